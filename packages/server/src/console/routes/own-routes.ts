import Type from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { decodeId, encodeId } from '../../tenancy/index.ts';
import { type ConsoleDeps, endSession, factors, links, listSessions, signIns } from '../accounts/index.ts';
import { readSessionCookie, sessionCookie } from '../cookie.ts';
import {
  actingOf,
  common,
  DONE,
  Done,
  deviceOf,
  freshOwn,
  own,
  type Place,
  type Request,
  SignedIn,
  signedIn,
  Text,
  userOf,
} from './own.ts';
import { passkeyRoutes } from './passkey-routes.ts';
import { Me, readMe } from './read-me.ts';

const OrNull = Type.Union([Type.String(), Type.Null()]);
const LinkPurpose = Type.Object({
  kind: Type.Union([Type.Literal('invitation'), Type.Literal('sign_in')]),
  email: Type.String(),
  needs: Type.Union([Type.Literal('nothing'), Type.Literal('new_password'), Type.Literal('password')], {
    description:
      'What `links/redeem` takes beside the token: with `password` also the `code` of who has a second factor.',
  }),
  merchant_name: OrNull,
  role: OrNull,
  invited_by: OrNull,
});

/** For people who have no session yet. */
export function openRoutes({ deps, publicUrl }: Place): Route[] {
  const code = Type.Optional(Type.String({ maxLength: 64 }));
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/sign-in',
      operationId: 'signIn',
      summary: 'Sign in',
      body: Type.Object({ email: Text(256), password: Text(1_024), code }),
      answer: SignedIn,
      refusals: [],
      handle: async (request) =>
        signedIn(publicUrl(), await signIns.signIn(deps, request.body, deviceOf(request))),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/links/look',
      operationId: 'lookAtLink',
      summary: 'What a link is for and what it takes; the link is not used',
      body: Type.Object({ token: Text(128) }),
      answer: LinkPurpose,
      refusals: [],
      handle: async (request) => {
        const { merchantName, invitedBy, ...purpose } = await links.lookAtLink(deps, request.body.token);
        return { body: { ...purpose, merchant_name: merchantName, invited_by: invitedBy } };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/links/redeem',
      operationId: 'redeemLink',
      summary: 'Come in by a link, which works once',
      body: Type.Object({
        token: Text(128),
        password: Type.Optional(Type.String({ maxLength: 1_024 })),
        code,
      }),
      answer: SignedIn,
      refusals: [],
      handle: async (request) =>
        signedIn(publicUrl(), await links.redeemLink(deps, request.body, deviceOf(request))),
    }),
  ];
}

const Session = Type.Object({
  session_id: Type.String(),
  is_this_one: Type.Boolean(),
  created_at: Type.String(),
  seen_at: Type.String(),
  remote_address: Type.String(),
  user_agent: Type.String(),
});

/** @throws Fail `resource_not_found` */
async function end(deps: ConsoleDeps, request: Request, sessionId?: string): Promise<void> {
  if (!(await endSession(deps, actingOf(request), sessionId)))
    throw new Fail('resource_not_found', 'There is no such session.');
}

function sessionRoutes({ deps, publicUrl }: Place): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/console/api/me',
      operationId: 'getMe',
      summary: 'Who is signed in, with their roles',
      permission: own,
      answer: Me,
      refusals: [],
      handle: async (request) => {
        const token = readSessionCookie(request, publicUrl()) ?? '';
        return { body: await readMe(deps, { userId: userOf(request).userId, token }) };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/sign-out',
      operationId: 'signOut',
      summary: 'End this session',
      permission: own,
      answer: Done,
      refusals: [],
      handle: async (request) => {
        await end(deps, request);
        return { ...DONE, headers: sessionCookie(publicUrl(), null) };
      },
    }),
  ];
}

function listRoutes({ deps }: Place): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/console/api/sessions',
      operationId: 'listSessions',
      summary: 'Your sessions that have not been ended',
      permission: own,
      answer: Type.Object({ data: Type.Array(Session) }),
      refusals: [],
      handle: async (request) => {
        const { userId, sessionId } = userOf(request);
        const data = (await listSessions(deps.db, userId, deps.clock.nowMs())).map((row) => ({
          session_id: encodeId('session', row.session_id),
          is_this_one: row.session_id === sessionId,
          created_at: isoOf(Number(row.created_at_ms)) ?? '',
          seen_at: isoOf(Number(row.seen_at_ms)) ?? '',
          remote_address: row.remote_address,
          user_agent: row.user_agent,
        }));
        return { body: { data } };
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/console/api/sessions/{session_id}',
      operationId: 'endSession',
      summary: 'End one of your sessions, at once on all nodes',
      permission: own,
      params: Type.Object({ session_id: Type.String() }),
      answer: Done,
      refusals: ['resource_not_found'],
      handle: async (request) => {
        await end(deps, request, decodeId('session', request.params.session_id) ?? NIL_ID);
        return DONE;
      },
    }),
  ];
}

function passwordRoutes({ deps }: Place): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/proof',
      operationId: 'proveAgain',
      summary: 'Give password and code again, for changes that ask for a proof of the last 5 minutes',
      permission: own,
      body: Type.Object({ password: Text(1_024), code: Type.Optional(Type.String({ maxLength: 64 })) }),
      answer: Done,
      refusals: [],
      handle: async (request) => {
        await signIns.proveAgain(deps, userOf(request), request.body);
        return DONE;
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/password',
      operationId: 'setPassword',
      summary: 'Set your password; your other sessions end, and links that sign you in',
      permission: freshOwn,
      body: Type.Object({ password: Text(1_024) }),
      answer: Done,
      refusals: [],
      handle: async (request) => {
        await signIns.setPassword(deps, actingOf(request), request.body.password);
        return DONE;
      },
    }),
  ];
}

const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String()) });

function factorRoutes({ deps, publicUrl }: Place): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/factors/totp',
      operationId: 'beginTotp',
      summary: 'Begin to set up an authenticator app',
      permission: freshOwn,
      answer: Type.Object({
        secret: Type.String({ description: 'In base32, for whoever types it in.' }),
        uri: Type.String({ description: 'Opens an app of the same device.' }),
        qr_svg: Type.String({ description: 'The uri as a picture to scan.' }),
      }),
      refusals: ['conflict'],
      handle: async (request) => ({ body: await factors.beginTotp(deps, userOf(request).userId) }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/factors/totp/confirm',
      operationId: 'confirmTotp',
      summary: 'End the set-up with a code; answers ten recovery codes, shown once. Your other sessions end',
      permission: freshOwn,
      body: Type.Object({ code: Text(64) }),
      answer: RecoveryCodes,
      refusals: [],
      handle: async (request) => {
        const { codes, token } = await factors.confirmTotp(deps, actingOf(request), request.body.code);
        const headers = sessionCookie(publicUrl(), token);
        return { body: { recovery_codes: codes }, headers };
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/console/api/factors/totp',
      operationId: 'removeTotp',
      summary: 'Remove the authenticator app and its recovery codes; your other sessions end',
      permission: freshOwn,
      answer: Done,
      refusals: [],
      handle: async (request) => {
        await factors.removeTotp(deps, actingOf(request));
        return DONE;
      },
    }),
  ];
}

function recoveryRoutes({ deps }: Place): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/console/api/factors/recovery-codes',
      operationId: 'countRecoveryCodes',
      summary: 'How many of your ten recovery codes were not used yet',
      permission: own,
      answer: Type.Object({ left: Type.Integer() }),
      refusals: [],
      handle: async (request) => ({
        body: { left: await factors.recoveryCodesLeft(deps.db, userOf(request).userId) },
      }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/factors/recovery-codes',
      operationId: 'renewRecoveryCodes',
      summary: 'Make ten new recovery codes, shown once; earlier ones work no more',
      permission: freshOwn,
      answer: RecoveryCodes,
      refusals: ['conflict'],
      handle: async (request) => ({
        body: { recovery_codes: await factors.renewRecoveryCodes(deps, actingOf(request)) },
      }),
    }),
  ];
}

/** What is one's own. */
export const ownRoutes = (place: Place): Route[] => [
  ...passkeyRoutes(place),
  ...sessionRoutes(place),
  ...listRoutes(place),
  ...passwordRoutes(place),
  ...factorRoutes(place),
  ...recoveryRoutes(place),
];
