import { migrate } from '../../platform/db/index.ts';

const FOLDER = new URL('../../../migrations/simchain/', import.meta.url);

/** Migrates the schema `simchain` of that database. @returns the names of the migrations that were applied */
export function migrateSimulatedChain(url: string): Promise<string[]> {
  return migrate(url, { folder: FOLDER, schema: 'simchain' });
}
