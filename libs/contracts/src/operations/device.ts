import { ApproveDevice, DeviceRequest } from '../identity/device.js';
import type { Operation } from './operation.js';

const DEVICE = '/api/v1/device/{userCode}';

/**
 * The user's side of the device flow. The program's side (`/oauth/device/…`) speaks OAuth, forms and its errors, and is
 * not an operation.
 */
export const deviceOperations = {
  getDeviceRequest: {
    id: 'device.get',
    method: 'GET',
    path: DEVICE,
    summary: 'The program that waits behind a code',
    permission: null,
    status: 200,
    response: DeviceRequest,
    idempotency: 'idempotent',
    errors: [],
  },
  approveDevice: {
    id: 'device.approve',
    method: 'POST',
    path: `${DEVICE}/approve`,
    summary: 'Give the program that waits an API key of one’s own',
    permission: null,
    status: 204,
    body: ApproveDevice,
    idempotency: 'idempotent',
    errors: ['request.not-json', 'request.cross-site', 'api-key.scope-too-wide', 'api-key.limit'],
  },
  denyDevice: {
    id: 'device.deny',
    method: 'POST',
    path: `${DEVICE}/deny`,
    summary: 'Send the program away',
    permission: null,
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
