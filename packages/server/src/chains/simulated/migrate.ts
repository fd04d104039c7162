import { migrate } from '../../platform/db/index.ts';

const FOLDER = new URL('../../../migrations/simchain/', import.meta.url);

/** Brings the schema `simchain` of that database up to date. @returns the names of the migrations applied now. */
export function migrateSimulatedChain(url: string): Promise<string[]> {
  return migrate(url, { folder: FOLDER, schema: 'simchain' });
}
