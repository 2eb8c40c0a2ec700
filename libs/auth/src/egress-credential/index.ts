export { EgressCredentials } from './egress-credential.js';
