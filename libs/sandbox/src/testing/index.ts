export { FarmBackend } from './farm-backend.js';
export { Latch } from './latch.js';
export { type BackendUnderTest, describeSandboxBackend } from './sandbox-backend.contract.js';
export { type FarmEvent, SandboxFarm } from './sandbox-farm.js';
