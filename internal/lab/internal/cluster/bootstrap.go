package cluster

import (
	"context"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissionregistrationv1ac "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"
	storagev1ac "k8s.io/client-go/applyconfigurations/storage/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/nodes"
)

// The service account with few rights. Its name is that of its namespace.
const limitedAccount = "lab-limited"

// limitedExpiry is how long the token of the limited account is valid.
const limitedExpiry = 10 * 365 * 24 * time.Hour

// bootstrap makes the objects a lab has from the beginning. It may run again on a lab that has them.
func bootstrap(ctx context.Context, client kubernetes.Interface, dir layout.Dir, state *layout.State) error {
	for i := range state.Nodes {
		node := nodes.Node{Name: fmt.Sprintf("node-%d", i), Index: i, Version: state.KubernetesVersion}
		if err := nodes.Ensure(ctx, client, node); err != nil {
			return err
		}
	}
	if err := ensureStorageClasses(ctx, client); err != nil {
		return err
	}
	if err := ensurePodDeletionPolicy(ctx, client); err != nil {
		return err
	}
	return ensureLimitedAccount(ctx, client, dir)
}

func ensureStorageClasses(ctx context.Context, client kubernetes.Interface) error {
	class := func(name string, mode storagev1.VolumeBindingMode) *storagev1ac.StorageClassApplyConfiguration {
		return storagev1ac.StorageClass(name).
			WithProvisioner(controllers.Provisioner).
			WithReclaimPolicy(corev1.PersistentVolumeReclaimDelete).
			WithVolumeBindingMode(mode)
	}
	for _, class := range []*storagev1ac.StorageClassApplyConfiguration{
		class("standard", storagev1.VolumeBindingImmediate).
			WithAnnotations(map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}),
		class("slow", storagev1.VolumeBindingImmediate).
			WithParameters(map[string]string{controllers.ParameterDelay: "5s"}),
		class("wait", storagev1.VolumeBindingWaitForFirstConsumer),
	} {
		if _, err := client.StorageV1().StorageClasses().Apply(ctx, class, applyOptions()); err != nil {
			return fmt.Errorf("making storage class %s: %w", *class.Name, err)
		}
	}
	return nil
}

// ensureLimitedAccount makes a namespace whose service account may work with its ConfigMaps and Secrets, and nothing else.
func ensureLimitedAccount(ctx context.Context, client kubernetes.Interface, dir layout.Dir) error {
	const name = limitedAccount
	core, rbac := client.CoreV1(), client.RbacV1()
	if _, err := core.Namespaces().Apply(ctx, corev1ac.Namespace(name), applyOptions()); err != nil {
		return fmt.Errorf("making namespace %s: %w", name, err)
	}
	if _, err := core.ServiceAccounts(name).Apply(ctx, corev1ac.ServiceAccount(name, name), applyOptions()); err != nil {
		return fmt.Errorf("making service account %s: %w", name, err)
	}
	role := rbacv1ac.Role(name, name).WithRules(rbacv1ac.PolicyRule().
		WithAPIGroups("").
		WithResources("configmaps", "secrets").
		WithVerbs("get", "list", "watch", "create", "patch", "delete"))
	if _, err := rbac.Roles(name).Apply(ctx, role, applyOptions()); err != nil {
		return fmt.Errorf("making role %s: %w", name, err)
	}
	binding := rbacv1ac.RoleBinding(name, name).
		WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup("rbac.authorization.k8s.io").WithKind("Role").WithName(name)).
		WithSubjects(rbacv1ac.Subject().WithKind("ServiceAccount").WithName(name).WithNamespace(name))
	if _, err := rbac.RoleBindings(name).Apply(ctx, binding, applyOptions()); err != nil {
		return fmt.Errorf("binding role %s: %w", name, err)
	}

	seconds := int64(limitedExpiry / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	token, err := core.ServiceAccounts(name).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("requesting a token for service account %s: %w", name, err)
	}
	return layout.WriteFile(dir.LimitedToken(), []byte(token.Status.Token))
}

// ensurePodDeletionPolicy has the API server refuse KWOK the deletion of a pod that nobody deletes. A kubelet removes pods with
// their UID as a precondition. KWOK removes them by name, once for each event of a pod that ends: a second removal that comes
// late took a new pod of the same name.
func ensurePodDeletionPolicy(ctx context.Context, client kubernetes.Interface) error {
	const name = "kwok-removes-ended-pods"
	rule := admissionregistrationv1ac.NamedRuleWithOperations().WithAPIGroups("").WithAPIVersions("v1").WithResources("pods").WithOperations(admissionregistrationv1.Delete)
	policy := admissionregistrationv1ac.ValidatingAdmissionPolicy(name).WithSpec(admissionregistrationv1ac.ValidatingAdmissionPolicySpec().
		WithFailurePolicy(admissionregistrationv1.Fail).
		WithMatchConstraints(admissionregistrationv1ac.MatchResources().WithResourceRules(rule)).
		WithMatchConditions(admissionregistrationv1ac.MatchCondition().WithName("kwok").WithExpression(fmt.Sprintf("request.userInfo.username == %q", userKwok))).
		WithValidations(admissionregistrationv1ac.Validation().
			WithExpression("has(oldObject.metadata.deletionTimestamp)").
			WithMessage("nobody deletes this pod: one of the same name has ended")))
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Apply(ctx, policy, applyOptions()); err != nil {
		return fmt.Errorf("making the admission policy %s: %w", name, err)
	}
	binding := admissionregistrationv1ac.ValidatingAdmissionPolicyBinding(name).WithSpec(admissionregistrationv1ac.ValidatingAdmissionPolicyBindingSpec().
		WithPolicyName(name).WithValidationActions(admissionregistrationv1.Deny))
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Apply(ctx, binding, applyOptions()); err != nil {
		return fmt.Errorf("binding the admission policy %s: %w", name, err)
	}
	return nil
}

func applyOptions() metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: "lab", Force: true} }

// usable tells whether a lab can be worked with: pods can be made in namespace default and have nodes to run on.
func usable(ctx context.Context, client kubernetes.Interface, count int) error {
	if _, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return fmt.Errorf("reading service account default of namespace default: %w", err)
	}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the nodes: %w", err)
	}
	ready := 0
	for _, node := range list.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	if ready < count {
		return fmt.Errorf("%d of %d nodes are ready", ready, count)
	}
	return nil
}
