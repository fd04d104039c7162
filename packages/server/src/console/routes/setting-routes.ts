import Type from 'typebox';
import type { ProcessSetting } from '../../platform/config.ts';
import type { Db } from '../../platform/db/index.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { listStored } from '../../tenancy/settings/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { describeSettings, readChanges, settingTexts } from '../settings/index.ts';
import { needs } from './own.ts';

const TextOrNull = Type.Union([Type.String(), Type.Null()]);

const SettingSchema = Type.Object({
  name: Type.String(),
  description: Type.String(),
  sandbox: Type.String({
    description: 'The value of sandbox merchants without their own, as `florin settings set` takes it.',
  }),
  live: Type.String({ description: 'That of live merchants.' }),
  source: Type.String({ enum: ['default', 'database'] }),
  merchants: Type.Integer({ description: 'How many merchants have a value of their own.' }),
  changed_by: TextOrNull,
  changed_at: Type.Union([Type.String(), Type.Null()], {
    description: 'Null: not among the newest thousand changes in the audit log.',
  }),
});

const ProcessSettingSchema = Type.Object({
  name: Type.String({ description: 'Of the environment.' }),
  flag: Type.String(),
  description: Type.String(),
  value: Type.Union([Type.String(), Type.Null()], {
    description: 'Null: not given, so that its default holds, or secret.',
  }),
  is_secret: Type.Boolean(),
  source: Type.String({ enum: ['default', 'environment', 'flag'] }),
});

async function listSettings(db: Db) {
  const [settings, stored, changes] = await Promise.all([
    describeSettings(db, undefined),
    listStored(db),
    readChanges(db),
  ]);
  return settings.map((setting) => {
    const own = stored.find(({ name }) => name === setting.name);
    const change = changes.get(setting.name);
    return {
      name: setting.name,
      description: setting.description,
      ...settingTexts(setting),
      source: own?.isOfAll === true ? 'database' : 'default',
      merchants: own?.merchants ?? 0,
      changed_by: change?.by ?? null,
      changed_at: change?.at ?? null,
    };
  });
}

/** The settings of the installation, for its operator and auditors; `florin settings` changes them. */
export const settingRoutes = ({ db }: ConsoleDeps, ofProcess: readonly ProcessSetting[]): Route[] => [
  defineRoute({
    scope: 'read',
    tag: 'Operator',
    method: 'GET',
    path: '/console/api/operator/settings',
    operationId: 'listSettings',
    summary:
      'Settings in the database, with who changed them last; and those that the answering process was started with, without secrets',
    permission: needs('see_installation'),
    answer: Type.Object({ data: Type.Array(SettingSchema), process: Type.Array(ProcessSettingSchema) }),
    refusals: [],
    handle: async () => ({
      body: {
        data: await listSettings(db),
        process: ofProcess.map(({ isSecret, ...one }) => ({ ...one, is_secret: isSecret })),
      },
    }),
  }),
];
