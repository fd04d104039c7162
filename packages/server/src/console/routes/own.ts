import Type from 'typebox';
import { invariant } from '../../platform/fail.ts';
import type { RouteRequest } from '../../platform/http/index.ts';
import type { Acting, ConsoleDeps, signIns } from '../accounts/index.ts';
import { OWN } from '../authenticate.ts';
import { sessionCookie } from '../cookie.ts';
import type { Permission } from '../roles.ts';

export type Request = RouteRequest<unknown, unknown, unknown>;
export type Place = { deps: ConsoleDeps; publicUrl: () => string };

/** A text of the body that is there. */
export const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
export const Done = Type.Object({ done: Type.Boolean() });
export const DONE = { body: { done: true } };
export const SignedIn = Type.Object({
  status: Type.Union([Type.Literal('signed_in'), Type.Literal('code_required')]),
});
/** What a person needs for a route; `isProofFresh`: and a proof of the last 5 minutes. */
export const needs = (name: Permission, isProofFresh = false) => ({ name, isProofFresh });
export const own = { name: OWN };
export const freshOwn = { name: OWN, isProofFresh: true };
export const common = { scope: 'read' as const, tag: 'You' };

export const deviceOf = ({ remoteAddress, headers }: Request) => ({
  remoteAddress,
  userAgent: headers['user-agent'] ?? '',
});

/** The person who is signed in. */
export function userOf({ caller: { actor } }: Pick<Request, 'caller'>) {
  invariant(actor.kind === 'user', 'keys do not come here');
  return actor;
}

export const actingOf = (request: Request): Acting => {
  const { remoteAddress, requestId } = request;
  const { userId, sessionId } = userOf(request);
  return { userId, sessionId, remoteAddress, requestId };
};

export const signedIn = (publicUrl: string, session: signIns.SignIn) =>
  session === 'code_required'
    ? { body: { status: session } }
    : { body: { status: 'signed_in' as const }, headers: sessionCookie(publicUrl, session.token) };
