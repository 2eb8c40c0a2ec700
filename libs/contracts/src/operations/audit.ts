import { AuditExportQuery, AuditPage, AuditQuery, AuditVerification, VerifyAuditQuery } from '../audit/audit.js';
import type { Operation } from './operation.js';

const AUDIT = '/api/v1/orgs/{org}/audit';

export const auditOperations = {
  listAudit: {
    id: 'audit.list',
    method: 'GET',
    path: AUDIT,
    summary: 'Who did what to what, newest first',
    permission: 'audit:read',
    status: 200,
    query: AuditQuery,
    response: AuditPage,
    idempotency: 'idempotent',
    errors: [],
  },
  exportAudit: {
    id: 'audit.export',
    method: 'GET',
    path: `${AUDIT}/export`,
    summary:
      'The chain of the audit as lines of JSON, oldest first, with what it takes to verify it elsewhere; the export is itself recorded',
    permission: 'audit:export',
    status: 200,
    query: AuditExportQuery,
    produces: 'application/x-ndjson',
    idempotency: 'idempotent',
    errors: [],
  },
  verifyAudit: {
    id: 'audit.verify',
    method: 'GET',
    path: `${AUDIT}/verify`,
    summary: 'Whether the audit is as it was written, or which row is the first that is not',
    permission: 'audit:read',
    status: 200,
    query: VerifyAuditQuery,
    response: AuditVerification,
    idempotency: 'idempotent',
    errors: [],
  },
} as const satisfies Record<string, Operation>;
