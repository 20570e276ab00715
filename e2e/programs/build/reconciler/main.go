// The same as the measured operator does by reconciliation, by controller-runtime: each object gets a config map and a
// status. It prints READY when it is at work. It is for benchmarks.
package main

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var kind = schema.GroupVersionKind{Group: "kopf.dev", Version: "v1", Kind: "KopfExample"}

type reconciler struct{ client.Client }

func main() {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	config := ctrl.GetConfigOrDie()
	// The others do not hold themselves back either.
	config.QPS, config.Burst = -1, -1
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Client:  client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(example()).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 64}).
		Complete(&reconciler{manager.GetClient()})
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	go func() {
		<-manager.Elected()
		if manager.GetCache().WaitForCacheSync(ctx) {
			fmt.Println("READY")
		}
	}()
	return manager.Start(ctx)
}

func example() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := example()
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	child := &corev1.ConfigMap{}
	if err := r.Get(ctx, request.NamespacedName, child); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil {
		child = &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: request.Name, Namespace: request.Namespace},
			Data:       map[string]string{"of": request.Name},
		}
		if err := controllerutil.SetControllerReference(object, child, r.Scheme()); err != nil {
			return ctrl.Result{}, err
		}
		if err := r.Create(ctx, child); err != nil {
			return ctrl.Result{}, err
		}
	}
	if _, isDone, _ := unstructured.NestedBool(object.Object, "status", "create_fn", "ok"); isDone {
		return ctrl.Result{}, nil
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"create_fn":{"ok":true}}}`))
	return ctrl.Result{}, r.Status().Patch(ctx, object, patch)
}
