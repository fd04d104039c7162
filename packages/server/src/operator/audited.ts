import { hostname, userInfo } from 'node:os';
import type { App } from '../app.ts';
import { audited } from '../audit/index.ts';
import { users } from '../console/accounts/index.ts';
import { findPaymentOwner } from '../payments/reads/index.ts';
import { locateBatch, locateItem } from '../payouts/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';
import { findByOwnId } from '../refunds/approvals/index.ts';
import { merchantOf } from '../stores/index.ts';
import { decodeId } from '../tenancy/index.ts';
import { merchantBy } from './context.ts';

// Every operation of the operator's interface passes here. What is not named as a reading one is recorded in the audit
// log, so a new operation is recorded unless somebody says that it changes nothing.

type Operation = (...input: never[]) => unknown;
export type Groups = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

const READING = ['list', 'get', 'show', 'status', 'statement', 'verify', 'export', 'csv', 'follow'];
const READING_OF_GROUP: Readonly<Record<string, readonly string[]>> = {
  stores: ['webhookKey'],
  refunds: ['awaitingApproval'],
  users: ['passkeys'],
};

/** Whether an operation changes nothing. */
export const isReading = (group: string, name: string): boolean =>
  READING.includes(name) || (READING_OF_GROUP[group]?.includes(name) ?? false);

type Input = readonly unknown[];
type Call = (...input: Input) => Promise<unknown>;
type Found = (calls: Readonly<Record<string, Call>>, input: Input) => Promise<unknown>;

/** The merchant among what was typed: `mer_…` stands in no other place than that of a merchant. */
function merchantIn(input: Input): string | undefined {
  for (const one of input) {
    const text = typeof one === 'object' && one !== null && 'merchant' in one ? one.merchant : one;
    if (typeof text === 'string' && decodeId('merchant', text) !== undefined) return text;
  }
  return undefined;
}

/** The one of a list whose field has that value. */
const findBy = (list: unknown, field: string, value: unknown): unknown =>
  Array.isArray(list) ? list.find((one) => Reflect.get(Object(one), field) === value) : undefined;

/** A person of a merchant or of the installation, with the role that they have or are invited to. */
const user: Found = async ({ list }, [typed]) => {
  const { email, merchant, installation }: { email?: unknown; merchant?: unknown; installation?: unknown } =
    Object(typed);
  if (typeof email !== 'string') return undefined;
  return findBy(await list?.({ merchant, installation }), 'email', users.normalEmail(email));
};
/** A role of a merchant, by its name. */
const role: Found = async ({ list }, [typed]) => {
  const { name, merchant }: { name?: unknown; merchant?: unknown } = Object(typed);
  return findBy(await list?.({ merchant }), 'name', name);
};
const listed =
  (idField: string): Found =>
  async ({ list }, [id]) =>
    findBy(await list?.(), idField, id);
const person: Found = async ({ list }, input) => findBy(await list?.(merchantIn(input)), 'name', input[0]);

/** How the thing that an operation changes is read, before and after it. What is a resource of the API has its events. */
const STATES: Readonly<Record<string, Found>> = {
  merchants: listed('merchant_id'),
  stores: listed('store_id'),
  keys: listed('key_id'),
  approvers: person,
  installationApprovers: person,
  users: user,
  roles: role,
  settings: async ({ get }, input) => await get?.(input[0], merchantIn(input)),
  networks: async ({ list }) => await list?.(),
};

/** Groups whose operations mean the only merchant where none is named. */
const OF_ONE_MERCHANT = ['approvers', 'networks', 'roles', 'treasury', 'users'];

/** The merchant that a change is recorded with. */
async function ownerOf(app: App, group: string, input: Input): Promise<string> {
  const named = merchantIn(input);
  if (named !== undefined) return (await merchantBy(app, named)).merchantId;
  const [first] = input;
  const field = (name: string): string | undefined => {
    const value: unknown = typeof first === 'object' && first !== null ? Reflect.get(first, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const id = typeof first === 'string' ? first : (field('store') ?? '');
  if (decodeId('store', id) !== undefined) return await merchantOf(app.db, 'store', id);
  if (decodeId('key', id) !== undefined) return await merchantOf(app.db, 'api_key', id);
  const [batch, item, payment, refund] = ['batch', 'item', 'payment', 'refund'].map(field);
  if (batch !== undefined) return (await locateBatch(app.db, batch)).merchantId;
  if (item !== undefined) return (await locateItem(app.db, item)).merchantId;
  if (payment !== undefined) return (await findPaymentOwner(app.db, payment)).merchantId;
  if (refund !== undefined) return (await findByOwnId(app.db, refund, undefined)).merchantId;
  // Who is signed in is no matter of one merchant.
  const ofInstallation =
    group === 'users' &&
    (field('email') === undefined || Reflect.get(Object(first), 'installation') === true);
  return OF_ONE_MERCHANT.includes(group) && !ofInstallation
    ? (await merchantBy(app, undefined)).merchantId
    : NIL_ID;
}

/** What is of no merchant that exists is recorded with the installation; the operation itself refuses it. */
async function ownerOrInstallation(app: App, group: string, input: Input): Promise<string> {
  try {
    return await ownerOf(app, group, input);
  } catch (error) {
    if (error instanceof Fail) return NIL_ID;
    throw error;
  }
}

/** The account of the machine. A container may have none for its number. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The same operations, each change with an attempt and an outcome in the audit log. Each keeps its parameters and its answer. */
export function auditOperations<T extends Groups>(app: App, groups: T): T;
export function auditOperations(
  app: App,
  groups: Readonly<Record<string, Readonly<Record<string, Call>>>>,
): Groups {
  const actor = { kind: 'cli' as const, id: `${accountName()}@${hostname()}` };
  const wrap = (group: string, name: string, call: Call, calls: Readonly<Record<string, Call>>): Call => {
    if (isReading(group, name)) return call;
    return async (...input) => {
      const merchantId = await ownerOrInstallation(app, group, input);
      const change = { merchantId, actor, origin: hostname(), action: `${group}.${name}` };
      const find = STATES[group];
      const read = find && (() => find(calls, input));
      return await audited(app, change, { input, read, work: () => call(...input) });
    };
  };
  return Object.fromEntries(
    Object.entries(groups).map(([group, calls]) => [
      group,
      Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, wrap(group, name, call, calls)])),
    ]),
  );
}
