import Type from 'typebox';
import { type AuditEntry, listEntries } from '../../audit/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { createdRange } from '../../platform/db/lists/index.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { decodeId, encodeId } from '../../tenancy/index.ts';
import { type ConsoleDeps, users } from '../accounts/index.ts';
import { needs } from './own.ts';

/** An export reads so many at a time. */
const LIMIT_MAX = 500;
const UnixTime = Type.Integer({ minimum: 0, maximum: 253_402_300_799 });

const Entry = Type.Object({
  number: Type.Integer(),
  at: Type.String(),
  merchant: Type.String(),
  actor_kind: Type.String(),
  actor: Type.String(),
  origin: Type.String(),
  action: Type.String(),
  phase: Type.String(),
  attempt: Type.Union([Type.Integer(), Type.Null()]),
  request_id: Type.Union([Type.String(), Type.Null()]),
  details: Type.Unknown(),
  previous_hash: Type.String(),
  hash: Type.String(),
});

const Query = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
  before: Type.Optional(Type.Integer({ minimum: 1, description: 'Entries below this number.' })),
  actor: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'The id of a person or key, or the e-mail address of a person.',
    }),
  ),
  action: Type.Optional(Type.String({ maxLength: 128 })),
  'created[gte]': Type.Optional(UnixTime),
  'created[lt]': Type.Optional(UnixTime),
});

/** People stand in the log by their id. */
async function actorOf({ db }: ConsoleDeps, text: string | undefined): Promise<string | undefined> {
  if (text?.includes('@') !== true) return text;
  const user = await users.findUserByEmail(db, users.normalEmail(text));
  return user === undefined ? text : encodeId('user', user.user_id);
}

type AuditQuery = Type.Static<typeof Query>;

async function readLog(deps: ConsoleDeps, merchantId: string, query: AuditQuery) {
  const { limit = 20, before, action } = query;
  const { from, before: end } = createdRange(query);
  const actor = await actorOf(deps, query.actor);
  const data = await listEntries(deps.db, merchantId, { limit, before, actor, action, from, end });
  return { body: { data, people: await peopleIn(deps, merchantId, data) } };
}

/** Who the people of these entries are: entries have only ids, as addresses change and entries must not. */
async function peopleIn({ db }: ConsoleDeps, merchantId: string, entries: readonly AuditEntry[]) {
  const ids = entries.flatMap(({ actor }) => decodeId('user', actor) ?? []);
  const found = await users.addressesOf(db, merchantId, [...new Set(ids)]);
  return Object.fromEntries(found.map(({ userId, email }) => [encodeId('user', userId), email]));
}

const common = {
  scope: 'read' as const,
  query: Query,
  answer: Type.Object({
    data: Type.Array(Entry),
    people: Type.Record(Type.String(), Type.String(), {
      description:
        'E-mail addresses of the people among the actors, by their id; a merchant is told those of who has a role there now.',
    }),
  }),
  refusals: [],
};

/** Who changed what with a merchant, and with the installation. */
export const auditLogRoutes = (deps: ConsoleDeps): Route[] => [
  defineRoute({
    ...common,
    method: 'GET',
    path: '/console/api/merchants/{merchant_id}/audit-log',
    operationId: 'listAuditLog',
    tag: 'Team',
    summary: 'Who changed what, newest first; each entry with its hash and that of the one before it',
    permission: needs('read_audit_log'),
    params: Type.Object({ merchant_id: Type.String() }),
    handle: async ({ caller, query }) => await readLog(deps, caller.merchantId, query),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/console/api/operator/audit-log',
    operationId: 'listInstallationAuditLog',
    tag: 'Operator',
    summary: 'Who changed what concerns every merchant, newest first, as `florin audit list` shows it',
    permission: needs('see_installation'),
    handle: async ({ query }) => await readLog(deps, NIL_ID, query),
  }),
];
