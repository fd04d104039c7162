import { listEntries } from '../../audit/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Db } from '../../platform/db/index.ts';

/** Entries that are read: people change settings, so it is years until there are more. */
const NEWEST = 1_000;
/** As the command line names them in the audit log. */
const ACTIONS = ['settings.set', 'settings.unset'];

/** Who changed a setting of the installation last, and when. */
export interface SettingChange {
  by: string;
  at: string;
  number: number;
}

/** The name of the setting that an entry is about: it stands in what was read after the change. */
function nameIn(details: unknown): string | undefined {
  const after: unknown = Reflect.get(Object(details), 'after');
  const name: unknown = Reflect.get(Object(after), 'name');
  return typeof name === 'string' ? name : undefined;
}

/** The last change of each setting of the installation, as the audit log has it. */
export async function readChanges(db: Db): Promise<Map<string, SettingChange>> {
  const newest = new Map<string, SettingChange>();
  for (const action of ACTIONS)
    for (const { number, at, actor, phase, details } of await listEntries(db, NIL_ID, {
      limit: NEWEST,
      action,
    })) {
      const name = nameIn(details);
      if (phase !== 'done' || name === undefined || (newest.get(name)?.number ?? 0) > number) continue;
      newest.set(name, { by: actor, at, number });
    }
  return newest;
}
