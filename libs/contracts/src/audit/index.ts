export {
  AUDIT_FAULTS,
  AuditEntry,
  AuditExportQuery,
  AuditLink,
  AuditPage,
  AuditQuery,
  AuditVerification,
  conversationOfEntry,
  VerifyAuditQuery,
} from './audit.js';
