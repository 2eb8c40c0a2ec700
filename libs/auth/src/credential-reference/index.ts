export { credentialReference, REFERENCE_KEY_BYTES, type ReferenceTo } from './credential-reference.js';
