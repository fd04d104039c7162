import Type from 'typebox';
import { isoOf } from '../../platform/db/index.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { passkeys } from '../accounts/index.ts';
import { sessionCookie } from '../cookie.ts';
import {
  actingOf,
  common,
  DONE,
  Done,
  deviceOf,
  freshOwn,
  own,
  type Place,
  SignedIn,
  signedIn,
  Text,
} from './own.ts';

const PATH = '/console/api/factors/passkeys';
const ID_MAX = 1_400;
const PART_MAX = 8_000;
/** The signer takes 4,095 bytes of each part; more would be refused there, with whatever else waits for its signature. */
const ANSWER_MAX = 5_460;

/** As `PublicKeyCredential.toJSON()` gives it; what browsers add is not read. */
const Attestation = Type.Object({
  id: Text(ID_MAX),
  rawId: Text(ID_MAX),
  response: Type.Object({ clientDataJSON: Text(PART_MAX), attestationObject: Text(PART_MAX) }),
});
export const Assertion = Type.Object({
  id: Text(ID_MAX),
  rawId: Text(ID_MAX),
  response: Type.Object({
    clientDataJSON: Text(ANSWER_MAX),
    authenticatorData: Text(ANSWER_MAX),
    signature: Text(ANSWER_MAX),
    userHandle: Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()])),
  }),
});
const Options = Type.Object({
  options: Type.Unknown({
    description: 'For `PublicKeyCredential.parse…OptionsFromJSON()`; counts for 5 minutes.',
  }),
});

/** For people who have no session yet. */
export function passkeySignInRoutes({ deps, publicUrl }: Place): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/sign-in/passkey/options',
      operationId: 'beginPasskeySignIn',
      summary: 'What the browser asks a passkey by',
      answer: Options,
      refusals: ['conflict'],
      handle: async () => ({ body: { options: await passkeys.askForPasskey(deps, publicUrl()) } }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/sign-in/passkey',
      operationId: 'signInByPasskey',
      summary: 'Sign in by a passkey, which is both factors',
      body: Type.Object({ credential: Assertion }),
      answer: SignedIn,
      refusals: ['conflict'],
      handle: async (request) => {
        const { credential } = request.body;
        const given = { credential, publicUrl: publicUrl() };
        return signedIn(publicUrl(), await passkeys.signInByPasskey(deps, given, deviceOf(request)));
      },
    }),
  ];
}

function proofRoutes({ deps, publicUrl }: Place): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/proof/passkey/options',
      operationId: 'beginPasskeyProof',
      summary: 'What the browser asks one of your passkeys by, for a proof',
      permission: own,
      answer: Options,
      refusals: ['conflict'],
      handle: async (request) => ({
        body: { options: await passkeys.askForPasskey(deps, publicUrl(), actingOf(request)) },
      }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/console/api/proof/passkey',
      operationId: 'proveByPasskey',
      summary: 'Prove by a passkey, for changes that ask for a proof of the last 5 minutes',
      permission: own,
      body: Type.Object({ credential: Assertion }),
      answer: Done,
      refusals: ['conflict'],
      handle: async (request) => {
        const { credential } = request.body;
        await passkeys.proveByPasskey(deps, actingOf(request), { credential, publicUrl: publicUrl() });
        return DONE;
      },
    }),
  ];
}

const Passkey = Type.Object({
  passkey_id: Type.String(),
  name: Type.String(),
  fingerprint: Type.String({
    description: 'Of its public key, as `florin approvers passkey` shows it to the operator of a signer.',
  }),
  created_at: Type.String(),
  used_at: Type.Union([Type.String(), Type.Null()]),
});

function addingRoutes({ deps, publicUrl }: Place): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: `${PATH}/options`,
      operationId: 'beginPasskey',
      summary: 'What the browser makes a passkey by',
      permission: freshOwn,
      answer: Options,
      refusals: ['conflict'],
      handle: async (request) => ({
        body: { options: await passkeys.beginPasskey(deps, actingOf(request), publicUrl()) },
      }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: PATH,
      operationId: 'addPasskey',
      summary:
        'Add a passkey; answers recovery codes where you have none, shown once. Your other sessions end',
      permission: freshOwn,
      body: Type.Object({ name: Text(64), credential: Attestation }),
      answer: Type.Object({ recovery_codes: Type.Array(Type.String()) }),
      refusals: ['conflict'],
      handle: async (request) => {
        const given = { ...request.body, publicUrl: publicUrl() };
        const { codes, token } = await passkeys.addPasskey(deps, actingOf(request), given);
        return { body: { recovery_codes: codes }, headers: sessionCookie(publicUrl(), token) };
      },
    }),
  ];
}

/** Passkeys of whoever is signed in. */
export const passkeyRoutes = (place: Place): Route[] => [
  ...proofRoutes(place),
  ...addingRoutes(place),
  defineRoute({
    ...common,
    method: 'GET',
    path: PATH,
    operationId: 'listPasskeys',
    summary: 'Your passkeys',
    permission: own,
    answer: Type.Object({ data: Type.Array(Passkey) }),
    refusals: [],
    handle: async (request) => {
      const { userId } = actingOf(request);
      const keys = await passkeys.listPublicKeys(place.deps, userId);
      const data = keys.map(({ credentialId, name, fingerprint, createdAtMs, usedAtMs }) => ({
        passkey_id: credentialId.toString('base64url'),
        name,
        fingerprint,
        created_at: isoOf(createdAtMs) ?? '',
        used_at: isoOf(usedAtMs),
      }));
      return { body: { data } };
    },
  }),
  defineRoute({
    ...common,
    method: 'DELETE',
    path: `${PATH}/{passkey_id}`,
    operationId: 'removePasskey',
    summary: 'Remove a passkey; your other sessions end',
    permission: freshOwn,
    params: Type.Object({ passkey_id: Type.String() }),
    answer: Done,
    refusals: ['resource_not_found'],
    handle: async (request) => {
      await passkeys.removePasskey(place.deps, actingOf(request), request.params.passkey_id);
      return DONE;
    },
  }),
];
