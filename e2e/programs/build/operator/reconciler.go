package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	finalizer = "programs.example.com/farewell"
	owner     = client.FieldOwner("site-operator")
	imageKey  = "spec.image"
)

type reconciler struct {
	client.Client
	recorder events.EventRecorder
}

func (r *reconciler) setUp(manager ctrl.Manager) error {
	byImage := func(object client.Object) []string { return []string{object.(*Site).Spec.Image} }
	if err := manager.GetFieldIndexer().IndexField(context.Background(), &Site{}, imageKey, byImage); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&Site{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Complete(r)
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := &Site{}
	if err := r.Get(ctx, request.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.sayFarewell(ctx, site)
	}
	if controllerutil.AddFinalizer(site, finalizer) {
		// The change comes back as an event.
		return ctrl.Result{}, r.Update(ctx, site)
	}
	steps := []func(context.Context, *Site) error{r.applyPage, r.applyDeployment, r.updateService, r.tellNeighbours, r.writeStatus}
	for _, step := range steps {
		if err := step(ctx, site); err != nil {
			return ctrl.Result{}, err
		}
	}
	say("reconciled", "site", site.Name, "generation", site.Generation)
	return ctrl.Result{}, nil
}

func (r *reconciler) applyPage(ctx context.Context, site *Site) error {
	page := coreapply.ConfigMap(site.Name, site.Namespace).
		WithOwnerReferences(ownedBy(site)).
		WithLabels(labelsOf(site)).
		WithData(map[string]string{"index.html": site.Spec.Greeting})
	return r.Apply(ctx, page, owner, client.ForceOwnership)
}

func (r *reconciler) applyDeployment(ctx context.Context, site *Site) error {
	container := coreapply.Container().WithName("web").WithImage(site.Spec.Image).
		WithPorts(coreapply.ContainerPort().WithName("http").WithContainerPort(8080)).
		WithEnv(coreapply.EnvVar().WithName("SITE").WithValue(site.Name))
	template := coreapply.PodTemplateSpec().WithLabels(labelsOf(site)).
		WithSpec(coreapply.PodSpec().WithContainers(container))
	deployment := appsapply.Deployment(site.Name, site.Namespace).
		WithOwnerReferences(ownedBy(site)).
		WithLabels(labelsOf(site)).
		WithSpec(appsapply.DeploymentSpec().
			WithReplicas(site.Spec.Replicas).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(labelsOf(site))).
			WithTemplate(template))
	return r.Apply(ctx, deployment, owner, client.ForceOwnership)
}

func (r *reconciler) updateService(ctx context.Context, site *Site) error {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, service, func() error {
		service.Spec.Selector = labelsOf(site)
		if len(service.Spec.Ports) == 0 {
			service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}}
		}
		service.Spec.Ports[0].TargetPort = intstr.FromString("http")
		return controllerutil.SetControllerReference(site, service, r.Scheme())
	})
	if result != controllerutil.OperationResultNone && err == nil {
		say("service", "result", string(result), "site", site.Name)
		r.recorder.Eventf(site, service, corev1.EventTypeNormal, "Served", "Serve", "The service is %s", result)
	}
	return err
}

// Sites of the same image have the number of these as an annotation of their pages; it is asked for in the cache.
func (r *reconciler) tellNeighbours(ctx context.Context, site *Site) error {
	sites := &SiteList{}
	inReach := []client.ListOption{client.InNamespace(site.Namespace), client.MatchingFields{imageKey: site.Spec.Image}}
	if err := r.List(ctx, sites, inReach...); err != nil {
		return err
	}
	note := fmt.Sprintf(`{"metadata":{"annotations":{"programs.example.com/alike":"%d"}}}`, len(sites.Items))
	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	return r.Patch(ctx, page, client.RawPatch(types.StrategicMergePatchType, []byte(note)))
}

func (r *reconciler) writeStatus(ctx context.Context, site *Site) error {
	before := site.DeepCopyObject().(*Site)
	site.Status.ObservedGeneration = site.Generation
	meta.SetStatusCondition(&site.Status.Conditions, metav1.Condition{
		Type: "Served", Status: metav1.ConditionTrue, Reason: "AllApplied", Message: "All is applied",
		ObservedGeneration: site.Generation,
	})
	if err := r.Status().Patch(ctx, site, client.MergeFrom(before)); err != nil {
		return err
	}
	address := &unstructured.Unstructured{}
	address.SetGroupVersionKind(groupVersion.WithKind("Site"))
	address.SetName(site.Name)
	address.SetNamespace(site.Namespace)
	url := fmt.Sprintf("http://%s.%s", site.Name, site.Namespace)
	if err := unstructured.SetNestedField(address.Object, url, "status", "address"); err != nil {
		return err
	}
	return r.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(address), client.FieldOwner("site-addresses"))
}

// What is left behind shows that the deletion has waited for it.
func (r *reconciler) sayFarewell(ctx context.Context, site *Site) error {
	if !controllerutil.ContainsFinalizer(site, finalizer) {
		return nil
	}
	farewell := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "farewell-" + site.Name, Namespace: site.Namespace},
		Data:       map[string]string{"last": site.Spec.Greeting},
	}
	if err := r.Create(ctx, farewell); err != nil {
		return client.IgnoreAlreadyExists(err)
	}
	before := site.DeepCopyObject().(*Site)
	controllerutil.RemoveFinalizer(site, finalizer)
	if err := r.Patch(ctx, site, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	say("farewell", "site", site.Name)
	return nil
}

func labelsOf(site *Site) map[string]string {
	return map[string]string{"programs.example.com/site": site.Name}
}

func ownedBy(site *Site) *metaapply.OwnerReferenceApplyConfiguration {
	return metaapply.OwnerReference().
		WithAPIVersion(groupVersion.String()).WithKind("Site").WithName(site.Name).WithUID(site.UID).
		WithController(true).WithBlockOwnerDeletion(true)
}
