import { migrate } from '../../platform/db/migrations/index.ts';
import { PACKAGE_FOLDER } from '../../platform/package-folder.ts';

const FOLDER = new URL('migrations/simchain/', PACKAGE_FOLDER);

/** Migrates the schema `simchain` of that database. @returns the names of the migrations that were applied */
export function migrateSimulatedChain(url: string): Promise<string[]> {
  return migrate(url, { folder: FOLDER, schema: 'simchain' });
}
