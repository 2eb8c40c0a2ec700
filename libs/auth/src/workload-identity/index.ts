export { IdentityKeys } from './identity-keys.js';
export { type Workload, workloadSubject, workloadToken } from './workload-token.js';
