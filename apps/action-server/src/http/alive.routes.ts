import { randomUUID } from 'node:crypto';
import type { Routes } from './server.js';

export function aliveRoutes(): Routes {
  /** Shows agent-server that this process is a new one, and has to be configured again. */
  const instance = randomUUID();
  return {
    'GET /alive': async () => ({ status: 'ok', instance }),
    'GET /ready': async () => ({ status: 'ready' }),
  };
}
