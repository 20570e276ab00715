/** Where the definitions of custom resources are kept. */
export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
