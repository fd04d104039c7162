import type { App } from '../app.ts';
import {
  type AuditEntry,
  type AuditReport,
  exportEntries,
  listEntries,
  verifyAudit,
} from '../audit/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';
import { merchantBy } from './context.ts';

/** Whose entries; none: the installation's. */
interface AuditScope {
  merchant?: string | undefined;
}

const NOTED = /^([1-9]\d{0,14}):([0-9a-f]{64})$/;

function headOf(text: string) {
  const [, number, hash] = NOTED.exec(text) ?? [];
  if (number !== undefined && hash !== undefined)
    return { number: BigInt(number), hash: Buffer.from(hash, 'hex') };
  const message = 'A noted entry is NUMBER:HASH, as florin audit verify prints it.';
  throw new Fail('invalid_request', { message, param: 'noted' });
}

export function auditCommands(app: App) {
  const scopeOf = async ({ merchant }: AuditScope) =>
    merchant === undefined ? NIL_ID : (await merchantBy(app, merchant)).merchantId;
  return {
    /** Newest first. */
    list: async ({
      limit,
      before,
      ...scope
    }: AuditScope & { limit: number; before?: number | undefined }): Promise<AuditEntry[]> =>
      await listEntries(app.db, await scopeOf(scope), { limit, before }),
    /** Lines of JSON, oldest first. */
    export: async function* (scope: AuditScope): AsyncGenerator<string> {
      for await (const entry of exportEntries(app.db, await scopeOf(scope)))
        yield `${JSON.stringify(entry)}\n`;
    },
    /** Of all merchants, or of one with the entry that somebody has noted of it. */
    verify: async ({
      noted,
      merchant,
    }: AuditScope & { noted?: string | undefined }): Promise<AuditReport[]> => {
      if (noted === undefined && merchant === undefined) return await verifyAudit(app);
      const merchantId = await scopeOf({ merchant });
      return await verifyAudit(app, { merchantId, noted: noted === undefined ? undefined : headOf(noted) });
    },
  };
}
