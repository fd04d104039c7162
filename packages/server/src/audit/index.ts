export { type AuditEntry, type AuditReport, exportEntries, listEntries, verifyAudit } from './read.ts';
export { type AuditDeps, audited, type Change, recordChange } from './record.ts';
export { APPEND_ONLY_AUDIT_TABLES } from './tables.ts';
