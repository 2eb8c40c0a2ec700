export { endAllSandboxes, ProcessBackend, type ProcessBackendConfig } from './process-backend.js';
