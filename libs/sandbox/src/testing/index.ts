export { type S3Server, startS3Server } from '../adapters/kubernetes/archive/testing/s3-server.js';
export { FarmBackend } from './farm-backend.js';
export { Latch } from './latch.js';
export { type S3Fault, S3LikeServer } from './s3-like-server.js';
export { type FarmEvent, SandboxFarm } from './sandbox-farm.js';
