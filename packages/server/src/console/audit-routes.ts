import { audited, type Change } from '../audit/index.ts';
import type { Answer, Route } from '../platform/http/index.ts';

import { getMerchant, listStores } from '../stores/index.ts';
import { listKeys } from '../stores/key-lists/index.ts';
import { decodeId, encodeId } from '../tenancy/index.ts';
import { type ConsoleDeps, users } from './accounts/index.ts';
import { listRoles } from './accounts/own-roles/index.ts';
import { permissionOf } from './api-permissions.ts';
import { OWN } from './authenticate.ts';
import { presentBrand } from './routes/brand-routes.ts';
import { stoppedChain } from './routes/network-routes.ts';
import { presentWebhookKey } from './routes/webhook-key-routes.ts';

type Request = Parameters<Route['handle']>[0];

/** The change of a request, to be recorded. */
function changeOf(route: Route, { caller, remoteAddress, requestId }: Request): Change {
  const { actor, merchantId, keyId } = caller;
  const id = actor.kind === 'user' ? encodeId('user', actor.userId) : keyId;
  return {
    merchantId,
    actor: { kind: actor.kind, id },
    origin: remoteAddress,
    action: route.operationId,
    requestId,
  };
}

interface Recorded {
  input: unknown;
  read: (() => Promise<unknown>) | undefined;
  /** What of the answer is recorded: answers may hold secrets. */
  resultOf?: (answer: Answer<unknown>) => unknown;
}

/** Answers a request; its attempt and its outcome are in the audit log. */
async function answerAudited(
  deps: ConsoleDeps,
  route: Route,
  request: Request,
  { input, read, resultOf }: Recorded,
): Promise<Answer<unknown>> {
  const answers: Answer<unknown>[] = [];
  const work = async () => {
    const answer = await route.handle(request);
    answers.push(answer);
    return resultOf?.(answer);
  };
  await audited(deps, changeOf(route, request), { input, read, work });
  const [answer] = answers;
  if (answer === undefined) throw new Error('what was done has an answer');
  return answer;
}

/** How what a route of the console changes is read, before and after. */
function stateReader(deps: ConsoleDeps, { path }: Route, { caller, params }: Request) {
  const named = (name: string): string => {
    const value: unknown = Reflect.get(Object(params), name);
    return typeof value === 'string' ? value : '';
  };
  const { merchantId } = caller;
  const network = named('network');
  if (network !== '') return async () => await stoppedChain(deps, { network, merchantId });
  const keyId = named('key_id');
  if (keyId !== '')
    return async () => (await listKeys(deps, { merchantId })).find(({ key_id }) => key_id === keyId);
  const role = named('role');
  if (role !== '')
    return async () => {
      const found = (await listRoles(deps, merchantId)).find(({ name }) => name === role);
      return found && { name: role, permissions: found.permissions };
    };
  const storeId = decodeId('store', named('store_id'));
  if (storeId !== undefined && path.includes('/webhook-key'))
    return () => presentWebhookKey(deps, { merchantId, storeId });
  if (storeId !== undefined && path.endsWith('/brand'))
    return () => presentBrand(deps, { merchantId, storeId });
  if (storeId !== undefined && path.endsWith('{store_id}'))
    return async () => {
      const store = (await listStores(deps, merchantId)).find((one) => one.store_id === storeId);
      return store && { name: store.name, review_status: store.review_status, enabled: store.enabled };
    };
  if (path.endsWith('{merchant_id}'))
    return async () => ({ status: (await getMerchant(deps.db, merchantId)).status });
  const userId = decodeId('user', named('user_id'));
  if (userId === undefined) return undefined;
  return async () => (await users.listUsers(deps, merchantId)).find((one) => one.userId === userId);
}

/** Calls that are no `GET` for their size alone. */
const CHANGE_NOTHING = ['previewBrand'];

/**
 * The same routes; what people change by them is in the audit log, with the ids of what was made. What is one's own is
 * recorded in the transaction that changes it: refusals, of which anybody can have any number, leave no row.
 */
export const auditRoutes = (deps: ConsoleDeps, routes: readonly Route[]): Route[] =>
  routes.map((route) => {
    if (route.method === 'GET' || route.permission === undefined || route.permission.name === OWN)
      return route;
    if (CHANGE_NOTHING.includes(route.operationId)) return route;
    return {
      ...route,
      handle: async (request) =>
        await answerAudited(deps, route, request, {
          input: { params: request.params, body: request.body },
          read: stateReader(deps, route, request),
          resultOf: madeBy,
        }),
    };
  });

/** The route that reads what another one changes: that of the longest beginning of its path which ends in an id. */
function readerOf(routes: readonly Route[], { path }: Route): Route | undefined {
  const parts = path.split('/');
  for (let length = parts.length; length > 0; length--) {
    const beginning = parts.slice(0, length).join('/');
    if (!beginning.endsWith('}')) continue;
    const reader = routes.find((one) => one.method === 'GET' && one.path === beginning);
    if (reader !== undefined) return reader;
  }
  return undefined;
}

/** The id in an answer: of what was made. */
function madeBy({ body }: Answer<unknown>): unknown {
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  return Object.fromEntries(fields.filter(([name]) => /^(?:id|\w+_id)$/.test(name)));
}

/**
 * The routes of the API with what people need for them. What people change is in the audit log, with the resource before
 * and after; what keys change is not, as it has events and the request log.
 */
export const openToPeople = (deps: ConsoleDeps, routes: readonly Route[]): Route[] =>
  routes.map((route) => {
    const permission = permissionOf(route);
    const open = permission === undefined ? route : { ...route, permission };
    if (route.method === 'GET') return open;
    const reader = readerOf(routes, route);
    return {
      ...open,
      handle: async (request) => {
        if (request.caller.actor.kind === 'key') return await route.handle(request);
        const { params, body } = request;
        const read = reader && (async () => (await reader.handle(request)).body);
        return await answerAudited(deps, route, request, { input: { params, body }, read, resultOf: madeBy });
      },
    };
  });
