export { callerKeySha256, gatewayKeyOf, SandboxKeys } from './caller-keys.js';
