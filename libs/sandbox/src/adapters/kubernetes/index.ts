export { DirectoryStore } from './archive/directory-store.js';
export { openS3Store, type S3StoreOptions } from './archive/s3-store.js';
export type { WorkspaceStore } from './archive/workspace-store.js';
export { type ClusterAccess, fromKubeconfig, inCluster } from './cluster-access.js';
export type { ClusterHealth } from './cluster-pods.js';
export { BUDGETS, type BudgetName, type Budgets } from './kube-api.js';
export { KubernetesBackend, type KubernetesBackendConfig } from './kubernetes-backend.js';
export { readTemplates, SandboxTemplate } from './sandbox-template.js';
