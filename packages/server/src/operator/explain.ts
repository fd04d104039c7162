import { OtherChain } from '../chains/pinned/index.ts';
import { ConfigError } from '../platform/config.ts';
import { codeOf, isUnavailable } from '../platform/db/index.ts';
import { UnknownMigrations } from '../platform/db/migrations/index.ts';
import { Fail } from '../platform/fail.ts';
import { WrongMasterKey } from '../platform/secrets/index.ts';

export interface Explanation {
  code: string;
  /** One line for an operator. */
  message: string;
}

/** SQLSTATE codes of wrong password, no access, no such database. */
const NO_ACCESS = new Set(['28000', '28P01', '3D000']);
const NO_SUCH_TABLE = new Set(['42P01', '3F000']);

/** Explains an error to an operator; undefined for a bug of ours. */
export function explain(error: unknown): Explanation | undefined {
  if (error instanceof ConfigError) return { code: 'configuration', message: error.message };
  if (error instanceof Fail) return { code: error.code, message: error.message };
  if (error instanceof OtherChain) return { code: 'other_chain', message: `${error.message}.` };
  if (error instanceof WrongMasterKey) return { code: 'wrong_master_key', message: `${error.message}.` };
  if (error instanceof UnknownMigrations) return { code: 'unknown_migrations', message: `${error.message}.` };
  const code = codeOf(error) ?? '';
  if (NO_SUCH_TABLE.has(code)) {
    return {
      code: 'not_migrated',
      message: 'The database lacks tables of this release: run florin migrate.',
    };
  }
  if (!isUnavailable(error) && !NO_ACCESS.has(code)) return undefined;
  return {
    code: 'database_unavailable',
    message: `The database cannot be used: ${reasonOf(error)}. Check DATABASE_URL.`,
  };
}

/** If several addresses were tried (::1 and 127.0.0.1), the last error is enough. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors.at(-1));
  return error instanceof Error ? error.message : String(error);
}
