// Prints what the OpenAPI of the API server does not tell of the types of Kubernetes, but what can be seen on the wire:
// the order of fields, which of them are left out when empty, which are pointers, and their numbers in protobuf.
// One line per type: its name in the OpenAPI, and its fields as described in packages/apiserver/src/schemas/types.ts.
package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	registration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Types that are no structs on the wire of JSON.
var scalars = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "micro",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "fields",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "intstr",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "raw",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "json",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "propsOrBool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "propsOrArray",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "propsOrStrings",
}

var lines = map[string]string{}

func main() {
	must(extensions.AddToScheme(scheme.Scheme))
	must(registration.AddToScheme(scheme.Scheme))
	for _, known := range scheme.Scheme.AllKnownTypes() {
		describe(known)
	}
	describe(reflect.TypeOf(meta.Status{}))
	describe(reflect.TypeOf(meta.Patch{}))
	names := []string{}
	for name := range lines {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Printf("%s %s\n", name, lines[name])
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func pathOf(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// k8s.io/api/core/v1.Pod is io.k8s.api.core.v1.Pod there.
func nameOf(t reflect.Type) string {
	parts := strings.SplitN(t.PkgPath(), "/", 2)
	labels := strings.Split(parts[0], ".")
	for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
		labels[i], labels[j] = labels[j], labels[i]
	}
	return strings.Join(labels, ".") + "." + strings.ReplaceAll(parts[1], "/", ".") + "." + t.Name()
}

func describe(t reflect.Type) {
	name := nameOf(t)
	if _, isKnown := lines[name]; isKnown {
		return
	}
	lines[name] = ""
	lines[name] = strings.Join(fieldsOf(t, true), " ")
}

func fieldsOf(t reflect.Type, isOnWire bool) []string {
	fields := []string{}
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		tag, hasTag := field.Tag.Lookup("json")
		options := strings.Split(tag, ",")
		number := ""
		if parts := strings.Split(field.Tag.Get("protobuf"), ","); isOnWire && len(parts) > 1 {
			number = "#" + parts[1]
		}
		if field.Anonymous && (!hasTag || options[0] == "") {
			inlined := field.Type
			if inlined.Kind() == reflect.Pointer {
				inlined = inlined.Elem()
			}
			fields = append(fields, fieldsOf(inlined, false)...)
			if number != "" {
				fields = append(fields, "~"+number+":"+typeOf(inlined))
			}
			continue
		}
		if !field.IsExported() || options[0] == "-" {
			continue
		}
		marks := ""
		for _, option := range options[1:] {
			if option == "omitempty" {
				marks += "?"
			}
		}
		of := field.Type
		if of.Kind() == reflect.Pointer {
			marks += "*"
			of = of.Elem()
		}
		for _, option := range options[1:] {
			if option == "omitzero" {
				marks += "0"
			}
		}
		fields = append(fields, options[0]+marks+number+":"+typeOf(of))
	}
	return fields
}

func typeOf(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return typeOf(t.Elem())
	}
	if scalar, isScalar := scalars[pathOf(t)]; isScalar {
		return scalar
	}
	named := ""
	if t.PkgPath() != "" && t.Kind() != reflect.Struct {
		named = "@" + t.String()
	}
	switch t.Kind() {
	case reflect.Struct:
		describe(t)
		return nameOf(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes" + named
		}
		return "[" + strings.TrimPrefix(named, "@") + "]" + typeOf(t.Elem())
	case reflect.Map:
		return "{" + strings.TrimPrefix(named, "@") + "}" + typeOf(t.Elem())
	case reflect.String:
		return "s" + named
	case reflect.Bool:
		return "b" + named
	case reflect.Int32, reflect.Int:
		return "i" + named
	case reflect.Int64:
		return "l" + named
	case reflect.Float64, reflect.Float32:
		return "f" + named
	}
	return "raw"
}
