import { audited } from '../audit/index.ts';
import type { Answer, Route } from '../platform/http/index.ts';
import { decodeId, encodeId } from '../tenancy/index.ts';
import { type ConsoleDeps, users } from './accounts/index.ts';

/** Their bodies are passwords and codes, which are known neither by name nor by form. */
const WITHOUT_INPUT = ['proveAgain', 'setPassword', 'confirmTotp'];

/** The same routes; what people change by them is in the audit log. Their answers, which may hold secrets, are not. */
export const auditRoutes = (deps: ConsoleDeps, routes: readonly Route[]): Route[] =>
  routes.map((route) => {
    if (route.method === 'GET' || route.permission === undefined) return route;
    return {
      ...route,
      handle: async (request) => {
        const { caller, params, body, remoteAddress, requestId } = request;
        const id = caller.actor.kind === 'user' ? encodeId('user', caller.actor.userId) : caller.keyId;
        const change = {
          merchantId: caller.merchantId,
          actor: { kind: caller.actor.kind, id },
          origin: remoteAddress,
          action: route.operationId,
          requestId,
        };
        const input = WITHOUT_INPUT.includes(route.operationId) ? undefined : { params, body };
        const answers: Answer<unknown>[] = [];
        const work = async () => {
          answers.push(await route.handle(request));
        };
        const { user_id: named } = params as { user_id?: string };
        const userId = named === undefined ? undefined : decodeId('user', named);
        const read =
          userId &&
          (async () => (await users.listUsers(deps, caller.merchantId)).find((one) => one.userId === userId));
        await audited(deps, change, { input, read: read || undefined, work });
        const [answer] = answers;
        if (answer === undefined) throw new Error('what was done has an answer');
        return answer;
      },
    };
  });
