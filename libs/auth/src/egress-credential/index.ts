export { EGRESS_USER, EgressCredentials } from './egress-credential.js';
