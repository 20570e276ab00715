/**
 * The kinds of resource.k8s.io/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { Condition, ObjectMeta, Quantity, RawExtension, Time } from '../../meta.k8s.io/v1/index.js';
import type { NodeSelector } from '../../v1/index.js';

/** DeviceClass is a vendor- or admin-provided resource that contains device configuration and selectors. */
export interface DeviceClass {
  apiVersion?: 'resource.k8s.io/v1';
  kind?: 'DeviceClass';
  /** Standard object metadata */
  metadata: ObjectMeta;
  /** Spec defines what can be allocated and how to configure it. */
  spec: DeviceClassSpec;
}
/** The deviceclasses of `resource.k8s.io/v1`. They are of the cluster, and not in namespaces. */
export const DeviceClass: ResourceToken<DeviceClass, undefined> = { selector: { group: 'resource.k8s.io', version: 'v1', plural: 'deviceclasses' }, namespaced: false };

/** ResourceClaim describes a request for access to resources in the cluster, for use by workloads. */
export interface ResourceClaim {
  apiVersion?: 'resource.k8s.io/v1';
  kind?: 'ResourceClaim';
  /** Standard object metadata */
  metadata: ObjectMeta;
  /** Spec describes what is being requested and how to configure it. */
  spec: ResourceClaimSpec;
  /** Status describes whether the claim is ready to use and what has been allocated. */
  status?: ResourceClaimStatus;
}
/** The resourceclaims of `resource.k8s.io/v1`. They are in namespaces. */
export const ResourceClaim: ResourceToken<ResourceClaim, string> = { selector: { group: 'resource.k8s.io', version: 'v1', plural: 'resourceclaims' }, namespaced: true };

/** ResourceClaimTemplate is used to produce ResourceClaim objects. */
export interface ResourceClaimTemplate {
  apiVersion?: 'resource.k8s.io/v1';
  kind?: 'ResourceClaimTemplate';
  /** Standard object metadata */
  metadata: ObjectMeta;
  /** Describes the ResourceClaim that is to be generated. */
  spec: ResourceClaimTemplateSpec;
}
/** The resourceclaimtemplates of `resource.k8s.io/v1`. They are in namespaces. */
export const ResourceClaimTemplate: ResourceToken<ResourceClaimTemplate, string> = { selector: { group: 'resource.k8s.io', version: 'v1', plural: 'resourceclaimtemplates' }, namespaced: true };

/** ResourceSlice represents one or more resources in a pool of similar resources, managed by a common driver. */
export interface ResourceSlice {
  apiVersion?: 'resource.k8s.io/v1';
  kind?: 'ResourceSlice';
  /** Standard object metadata */
  metadata: ObjectMeta;
  /** Contains the information published by the driver. */
  spec: ResourceSliceSpec;
}
/** The resourceslices of `resource.k8s.io/v1`. They are of the cluster, and not in namespaces. */
export const ResourceSlice: ResourceToken<ResourceSlice, undefined> = { selector: { group: 'resource.k8s.io', version: 'v1', plural: 'resourceslices' }, namespaced: false };

/** AllocatedDeviceStatus contains the status of an allocated device, if the driver chooses to report it. */
export interface AllocatedDeviceStatus {
  /** Conditions contains the latest observation of the device's state. */
  conditions?: Condition[];
  /** Data contains arbitrary driver-specific data. */
  data?: RawExtension;
  /** Device references one device instance via its name in the driver's resource pool. */
  device: string;
  /**
   * Driver specifies the name of the DRA driver whose kubelet plugin should be invoked to process the allocation
   * once the claim is needed on a node.
   */
  driver: string;
  /** NetworkData contains network-related information specific to the device. */
  networkData?: NetworkDeviceData;
  /**
   * This name together with the driver name and the device name field identify which device was allocated
   * (`<driver name>/<pool name>/<device name>`).
   */
  pool: string;
  /** ShareID uniquely identifies an individual allocation share of the device. */
  shareID?: string;
}

/** AllocationResult contains attributes of an allocated resource. */
export interface AllocationResult {
  /** AllocationTimestamp stores the time when the resources were allocated. */
  allocationTimestamp?: Time;
  /** Devices is the result of allocating devices. */
  devices?: DeviceAllocationResult;
  /** NodeSelector defines where the allocated resources are available. */
  nodeSelector?: NodeSelector;
}

/** CELDeviceSelector contains a CEL expression for selecting a device. */
export interface CELDeviceSelector {
  /** Expression is a CEL expression which evaluates a single device. */
  expression: string;
}

/** CapacityRequestPolicy defines how requests consume device capacity. */
export interface CapacityRequestPolicy {
  /**
   * Default specifies how much of this capacity is consumed by a request that does not contain an entry for it in
   * DeviceRequest's Capacity.
   */
  default?: Quantity;
  /** ValidRange defines an acceptable quantity value range in consuming requests. */
  validRange?: CapacityRequestPolicyRange;
  /** ValidValues defines a set of acceptable quantity values in consuming requests. */
  validValues?: Quantity[];
}

/**
 * CapacityRequestPolicyRange defines a valid range for consumable capacity values. - If the requested amount is
 * less than Min, it is rounded up to the Min value. - If Step is set and the requested amount is between Min and
 * Max but not aligned with Step, it will be rounded up to the next value equal to Min + (n * Step). - If Step is
 * not set, the requested amount is used as-is if it falls within the range Min to Max (if set). - If the
 * requested or rounded amount exceeds Max (if set), the request does not satisfy the policy, and the device
 * cannot be allocated.
 */
export interface CapacityRequestPolicyRange {
  /** Max defines the upper limit for capacity that can be requested. */
  max?: Quantity;
  /** Min specifies the minimum capacity allowed for a consumption request. */
  min: Quantity;
  /** Step defines the step size between valid capacity amounts within the range. */
  step?: Quantity;
}

/** CapacityRequirements defines the capacity requirements for a specific device request. */
export interface CapacityRequirements {
  /**
   * Requests represent individual device resource requests for distinct resources, all of which must be provided
   * by the device.
   */
  requests?: { [key: string]: Quantity };
}

/** Counter describes a quantity associated with a device. */
export interface Counter {
  /** Value defines how much of a certain device counter is available. */
  value: Quantity;
}

/**
 * CounterSet defines a named set of counters that are available to be used by devices defined in the
 * ResourcePool.
 */
export interface CounterSet {
  /**
   * Counters defines the set of counters for this CounterSet The name of each counter must be unique in that set
   * and must be a DNS label.
   */
  counters: { [key: string]: Counter };
  /** Name defines the name of the counter set. */
  name: string;
}

/** Device represents one individual hardware instance that can be selected based on its attributes. */
export interface Device {
  /** AllNodes indicates that all nodes have access to the device. */
  allNodes?: boolean;
  /** AllowMultipleAllocations marks whether the device is allowed to be allocated to multiple DeviceRequests. */
  allowMultipleAllocations?: boolean;
  /** Attributes defines the set of attributes for this device. */
  attributes?: { [key: string]: DeviceAttribute };
  /** BindingConditions defines the conditions for proceeding with binding. */
  bindingConditions?: string[];
  /** BindingFailureConditions defines the conditions for binding failure. */
  bindingFailureConditions?: string[];
  /**
   * BindsToNode indicates if the usage of an allocation involving this device has to be limited to exactly the
   * node that was chosen when allocating the claim.
   */
  bindsToNode?: boolean;
  /** Capacity defines the set of capacities for this device. */
  capacity?: { [key: string]: DeviceCapacity };
  /**
   * ConsumesCounters defines a list of references to sharedCounters and the set of counters that the device will
   * consume from those counter sets.
   */
  consumesCounters?: DeviceCounterConsumption[];
  /** Name is unique identifier among all devices managed by the driver in the pool. */
  name: string;
  /**
   * NodeAllocatableResourceMappings defines the mapping of node resources that are managed by the DRA driver
   * exposing this device.
   */
  nodeAllocatableResourceMappings?: { [key: string]: NodeAllocatableResourceMapping };
  /** NodeName identifies the node where the device is available. */
  nodeName?: string;
  /** NodeSelector defines the nodes where the device is available. */
  nodeSelector?: NodeSelector;
  /** If specified, these are the driver-defined taints. */
  taints?: DeviceTaint[];
}

/** DeviceAllocationConfiguration gets embedded in an AllocationResult. */
export interface DeviceAllocationConfiguration {
  /** Opaque provides driver-specific configuration parameters. */
  opaque?: OpaqueDeviceConfiguration;
  /** Requests lists the names of requests where the configuration applies. */
  requests?: string[];
  /**
   * Source records whether the configuration comes from a class and thus is not something that a normal user would
   * have been able to set or from a claim.
   */
  source: 'FromClaim' | 'FromClass';
}

/** DeviceAllocationResult is the result of allocating devices. */
export interface DeviceAllocationResult {
  /** This field is a combination of all the claim and class configuration parameters. */
  config?: DeviceAllocationConfiguration[];
  /** Results lists all allocated devices. */
  results?: DeviceRequestAllocationResult[];
}

/** DeviceAttribute must have exactly one field set. */
export interface DeviceAttribute {
  /** BoolValue is a true/false value. */
  bool?: boolean;
  /** BoolValues is a non-empty list of true/false values. */
  bools?: boolean[];
  /** IntValue is a number. */
  int?: number;
  /** IntValues is a non-empty list of numbers. */
  ints?: number[];
  /** StringValue is a string. */
  string?: string;
  /** StringValues is a non-empty list of strings. */
  strings?: string[];
  /** VersionValue is a semantic version according to semver.org spec 2.0.0. */
  version?: string;
  /** VersionValues is a non-empty list of semantic versions according to semver.org spec 2.0.0. */
  versions?: string[];
}

/** DeviceCapacity describes a quantity associated with a device. */
export interface DeviceCapacity {
  /**
   * RequestPolicy defines how this DeviceCapacity must be consumed when the device is allowed to be shared by
   * multiple allocations.
   */
  requestPolicy?: CapacityRequestPolicy;
  /** Value defines how much of a certain capacity that device has. */
  value: Quantity;
}

/** DeviceClaim defines how to request devices with a ResourceClaim. */
export interface DeviceClaim {
  /** This field holds configuration for multiple potential drivers which could satisfy requests in this claim. */
  config?: DeviceClaimConfiguration[];
  /** These constraints must be satisfied by the set of devices that get allocated for the claim. */
  constraints?: DeviceConstraint[];
  /** Requests represent individual requests for distinct devices which must all be satisfied. */
  requests?: DeviceRequest[];
}

/** DeviceClaimConfiguration is used for configuration parameters in DeviceClaim. */
export interface DeviceClaimConfiguration {
  /** Opaque provides driver-specific configuration parameters. */
  opaque?: OpaqueDeviceConfiguration;
  /** Requests lists the names of requests where the configuration applies. */
  requests?: string[];
}

/** DeviceClassConfiguration is used in DeviceClass. */
export interface DeviceClassConfiguration {
  /** Opaque provides driver-specific configuration parameters. */
  opaque?: OpaqueDeviceConfiguration;
}

/** DeviceClassSpec is used in a [DeviceClass] to define what can be allocated and how to configure it. */
export interface DeviceClassSpec {
  /** Config defines configuration parameters that apply to each device that is claimed via this class. */
  config?: DeviceClassConfiguration[];
  /** ExtendedResourceName is the extended resource name for the devices of this class. */
  extendedResourceName?: string;
  /** Each selector must be satisfied by a device which is claimed via this class. */
  selectors?: DeviceSelector[];
}

/** DeviceConstraint must have exactly one field set besides Requests. */
export interface DeviceConstraint {
  /**
   * DistinctAttribute requires that all devices in question have this attribute and that its type and value are
   * unique across those devices.
   */
  distinctAttribute?: string;
  /**
   * MatchAttribute requires that all devices in question have this attribute and that its type and value are the
   * same across those devices.
   */
  matchAttribute?: string;
  /** Requests is a list of the one or more requests in this claim which must co-satisfy this constraint. */
  requests?: string[];
}

/** DeviceCounterConsumption defines a set of counters that a device will consume from a CounterSet. */
export interface DeviceCounterConsumption {
  /** CounterSet is the name of the set from which the counters defined will be consumed. */
  counterSet: string;
  /** Counters defines the counters that will be consumed by the device. */
  counters: { [key: string]: Counter };
}

/** DeviceRequest is a request for devices required for a claim. */
export interface DeviceRequest {
  /** Exactly specifies the details for a single request that must be met exactly for the request to be satisfied. */
  exactly?: ExactDeviceRequest;
  /** FirstAvailable contains subrequests, of which exactly one will be selected by the scheduler. */
  firstAvailable?: DeviceSubRequest[];
  /**
   * Name can be used to reference this request in a pod.spec.containers[].resources.claims entry and in a
   * constraint of the claim.
   */
  name: string;
}

/** DeviceRequestAllocationResult contains the allocation result for one request. */
export interface DeviceRequestAllocationResult {
  /** AdminAccess indicates that this device was allocated for administrative access. */
  adminAccess?: boolean;
  /**
   * BindingConditions contains a copy of the BindingConditions from the corresponding ResourceSlice at the time of
   * allocation.
   */
  bindingConditions?: string[];
  /**
   * BindingFailureConditions contains a copy of the BindingFailureConditions from the corresponding ResourceSlice
   * at the time of allocation.
   */
  bindingFailureConditions?: string[];
  /** ConsumedCapacity tracks the amount of capacity consumed per device as part of the claim request. */
  consumedCapacity?: { [key: string]: Quantity };
  /** Device references one device instance via its name in the driver's resource pool. */
  device: string;
  /**
   * Driver specifies the name of the DRA driver whose kubelet plugin should be invoked to process the allocation
   * once the claim is needed on a node.
   */
  driver: string;
  /**
   * This name together with the driver name and the device name field identify which device was allocated
   * (`<driver name>/<pool name>/<device name>`).
   */
  pool: string;
  /** Request is the name of the request in the claim which caused this device to be allocated. */
  request: string;
  /**
   * ShareID uniquely identifies an individual allocation share of the device, used when the device supports
   * multiple simultaneous allocations.
   */
  shareID?: string;
  /** A copy of all tolerations specified in the request at the time when the device got allocated. */
  tolerations?: DeviceToleration[];
}

/** DeviceSelector must have exactly one field set. */
export interface DeviceSelector {
  /** CEL contains a CEL expression for selecting a device. */
  cel?: CELDeviceSelector;
}

/**
 * DeviceSubRequest describes a request for device provided in the claim.spec.devices.requests[].firstAvailable
 * array.
 */
export interface DeviceSubRequest {
  /** AllocationMode and its related fields define how devices are allocated to satisfy this subrequest. */
  allocationMode?: 'All' | 'ExactCount';
  /** Capacity define resource requirements against each capacity. */
  capacity?: CapacityRequirements;
  /** Count is used only when the count mode is "ExactCount". */
  count?: number;
  /**
   * DeviceClassName references a specific DeviceClass, which can define additional configuration and selectors to
   * be inherited by this subrequest.
   */
  deviceClassName: string;
  /**
   * Name can be used to reference this subrequest in the list of constraints or the list of configurations for the
   * claim.
   */
  name: string;
  /**
   * Selectors define criteria which must be satisfied by a specific device in order for that device to be
   * considered for this subrequest.
   */
  selectors?: DeviceSelector[];
  /** If specified, the request's tolerations. */
  tolerations?: DeviceToleration[];
}

/**
 * The device this taint is attached to has the "effect" on any claim which does not tolerate the taint and,
 * through the claim, to pods using the claim.
 */
export interface DeviceTaint {
  /**
   * The effect of the taint on claims that do not tolerate the taint and through such claims on the pods using
   * them.
   */
  effect: 'NoExecute' | 'NoSchedule' | 'None';
  /** The taint key to be applied to a device. */
  key: string;
  /**
   * TimeAdded represents the time at which the taint was added or (only in a DeviceTaintRule) the effect was
   * modified.
   */
  timeAdded?: Time;
  /** The taint value corresponding to the taint key. */
  value?: string;
}

/**
 * The ResourceClaim this DeviceToleration is attached to tolerates any taint that matches the triple
 * <key,value,effect> using the matching operator <operator>.
 */
export interface DeviceToleration {
  /** Effect indicates the taint effect to match. */
  effect?: 'NoExecute' | 'NoSchedule' | 'None';
  /** Key is the taint key that the toleration applies to. */
  key?: string;
  /** Operator represents a key's relationship to the value. */
  operator?: 'Equal' | 'Exists';
  /**
   * TolerationSeconds represents the period of time the toleration (which must be of effect NoExecute, otherwise
   * this field is ignored) tolerates the taint.
   */
  tolerationSeconds?: number;
  /** Value is the taint value the toleration matches to. */
  value?: string;
}

/** ExactDeviceRequest is a request for one or more identical devices. */
export interface ExactDeviceRequest {
  /** AdminAccess indicates that this is a claim for administrative access to the device(s). */
  adminAccess?: boolean;
  /** AllocationMode and its related fields define how devices are allocated to satisfy this request. */
  allocationMode?: 'All' | 'ExactCount';
  /** Capacity define resource requirements against each capacity. */
  capacity?: CapacityRequirements;
  /** Count is used only when the count mode is "ExactCount". */
  count?: number;
  /**
   * DeviceClassName references a specific DeviceClass, which can define additional configuration and selectors to
   * be inherited by this request.
   */
  deviceClassName: string;
  /**
   * Selectors define criteria which must be satisfied by a specific device in order for that device to be
   * considered for this request.
   */
  selectors?: DeviceSelector[];
  /** If specified, the request's tolerations. */
  tolerations?: DeviceToleration[];
}

/** NetworkDeviceData provides network-related details for the allocated device. */
export interface NetworkDeviceData {
  /** HardwareAddress represents the hardware address (e.g. */
  hardwareAddress?: string;
  /** InterfaceName specifies the name of the network interface associated with the allocated device. */
  interfaceName?: string;
  /** IPs lists the network addresses assigned to the device's network interface. */
  ips?: string[];
}

/**
 * NodeAllocatableResourceMapping defines the translation between the DRA device/capacity units requested to the
 * corresponding quantity of the node allocatable resource.
 */
export interface NodeAllocatableResourceMapping {
  /**
   * AllocationMultiplier is used as a multiplier for the allocated device count or the allocated capacity in the
   * claim.
   */
  allocationMultiplier?: Quantity;
  /** CapacityKey references a capacity name defined as a key in the `spec.devices[*].capacity` map. */
  capacityKey?: string;
}

/**
 * OpaqueDeviceConfiguration contains configuration parameters for a driver in a format defined by the driver
 * vendor.
 */
export interface OpaqueDeviceConfiguration {
  /** Driver is used to determine which kubelet plugin needs to be passed these configuration parameters. */
  driver: string;
  /** Parameters can contain arbitrary data. */
  parameters: RawExtension;
}

/** ResourceClaimConsumerReference contains enough information to let you locate the consumer of a ResourceClaim. */
export interface ResourceClaimConsumerReference {
  /** APIGroup is the group for the resource being referenced. */
  apiGroup?: string;
  /** Name is the name of resource being referenced. */
  name: string;
  /** Resource is the type of resource being referenced, for example "pods". */
  resource: string;
  /** UID identifies exactly one incarnation of the resource. */
  uid: string;
}

/** ResourceClaimSpec defines what is being requested in a ResourceClaim and how to configure it. */
export interface ResourceClaimSpec {
  /** Devices defines how to request devices. */
  devices?: DeviceClaim;
}

/** ResourceClaimStatus tracks whether the resource has been allocated and what the result of that was. */
export interface ResourceClaimStatus {
  /** Allocation is set once the claim has been allocated successfully. */
  allocation?: AllocationResult;
  /** Devices contains the status of each device allocated for this claim, as reported by the driver. */
  devices?: AllocatedDeviceStatus[];
  /** ReservedFor indicates which entities are currently allowed to use the claim. */
  reservedFor?: ResourceClaimConsumerReference[];
}

/** ResourceClaimTemplateSpec contains the metadata and fields for a ResourceClaim. */
export interface ResourceClaimTemplateSpec {
  /** ObjectMeta may contain labels and annotations that will be copied into the ResourceClaim when creating it. */
  metadata?: ObjectMeta;
  /** Spec for the ResourceClaim. */
  spec: ResourceClaimSpec;
}

/** ResourcePool describes the pool that ResourceSlices belong to. */
export interface ResourcePool {
  /** Generation tracks the change in a pool over time. */
  generation: number;
  /** Name is used to identify the pool. */
  name: string;
  /** ResourceSliceCount is the total number of ResourceSlices in the pool at this generation number. */
  resourceSliceCount: number;
}

/** ResourceSliceSpec contains the information published by the driver in one ResourceSlice. */
export interface ResourceSliceSpec {
  /** AllNodes indicates that all nodes have access to the resources in the pool. */
  allNodes?: boolean;
  /** Devices lists some or all of the devices in this pool. */
  devices?: Device[];
  /** Driver identifies the DRA driver providing the capacity information. */
  driver: string;
  /** NodeName identifies the node which provides the resources in this pool. */
  nodeName?: string;
  /**
   * NodeSelector defines which nodes have access to the resources in the pool, when that pool is not limited to a
   * single node.
   */
  nodeSelector?: NodeSelector;
  /**
   * PerDeviceNodeSelection defines whether the access from nodes to resources in the pool is set on the
   * ResourceSlice level or on each device.
   */
  perDeviceNodeSelection?: boolean;
  /** Pool describes the pool that this ResourceSlice belongs to. */
  pool: ResourcePool;
  /** SharedCounters defines a list of counter sets, each of which has a name and a list of counters available. */
  sharedCounters?: CounterSet[];
}
