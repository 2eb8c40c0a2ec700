export { InternalSignature, SIGNATURE_HEADER, type SignedRequest } from './internal-signature.js';
