package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "programs.example.com", Version: "v1"}

// A Site is a page that is served by so many pods.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec,omitempty"`
	Status SiteStatus `json:"status,omitempty"`
}

type SiteSpec struct {
	Replicas int32  `json:"replicas,omitempty"`
	Image    string `json:"image,omitempty"`
	Greeting string `json:"greeting,omitempty"`
}

type SiteStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Address            string             `json:"address,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

func (site *Site) DeepCopyObject() runtime.Object {
	copied := *site
	site.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = nil
	for _, condition := range site.Status.Conditions {
		copied.Status.Conditions = append(copied.Status.Conditions, *condition.DeepCopy())
	}
	return &copied
}

func (sites *SiteList) DeepCopyObject() runtime.Object {
	copied := *sites
	sites.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = nil
	for _, site := range sites.Items {
		copied.Items = append(copied.Items, *site.DeepCopyObject().(*Site))
	}
	return &copied
}

func addSites(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(groupVersion, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}
