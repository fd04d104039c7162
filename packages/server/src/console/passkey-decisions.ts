import { approvalChallenge } from '@florin/signer/passkey';
import { type Subject, statementText } from '@florin/signer/statement';
import type { ChainRegistry } from '../chains/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { countedApprovals, signedApprovals } from '../transfers/approvals/index.ts';
import { type ConsoleDeps, passkeys } from './accounts/index.ts';

// A person approves by a passkey: it answers the statement that every kind of approval signs, for the signer to verify. The
// answer is its own proof of who sits there, so a page asks once.

type Deps = ConsoleDeps & { chains: ChainRegistry };
type Decision = 'approved' | 'rejected';
type OwnPasskey = signedApprovals.OwnPasskey;

/** Who decides, and on which pages. */
export interface Deciding {
  caller: Pick<Caller, 'merchantId' | 'mode' | 'clockOffset'>;
  user: { user_id: string; email: string };
  publicUrl: string;
}

/** As a person waits for approval, a week. */
const VALID_SECONDS = 7 * 86_400;
const TIMEOUT_MS = 300_000;

/** How somebody may decide, and what keeps them from a stronger way. */
export interface Way {
  /** `none`: the signer is away, and the weaker way would use up the vote. */
  kind: 'passkey' | 'session' | 'none';
  passkeys: OwnPasskey[];
  hint: string | null;
}

/**
 * Passkeys of the person that count on these pages, as far as the signer asks.
 *
 * @param policy of the signer, which is asked once for a page
 */
export async function wayOf(
  deps: Deps,
  { caller, user, publicUrl }: Deciding,
  policy: countedApprovals.AskedPolicy,
): Promise<Way> {
  const session = (hint: string): Way => ({ kind: 'session', passkeys: [], hint });
  const known = await passkeys.listPublicKeys(deps, user.user_id);
  const named = `florin approvers passkey ${user.email}`;
  if (known.length === 0) {
    const then =
      caller.mode === 'live' ? `, and the operator names it in the signer's policy (${named})` : '';
    return session(`Add a passkey under Account${then}: your approvals are signatures then.`);
  }
  try {
    const { rpID: rpId, origin } = passkeys.relyingParty(publicUrl);
    const own = known.map(({ credentialId, key }) => ({ credentialId, key, rpId, origin }));
    const counting = signedApprovals.findCountingPasskeys(policy, own);
    if (counting instanceof Fail)
      return {
        kind: 'none',
        passkeys: [],
        hint: 'The signer does not answer, so nobody approves by passkey now. This page asks it again by itself.',
      };
    if (counting.length > 0) return { kind: 'passkey', passkeys: counting, hint: null };
    return session(
      `The signer's policy does not name your passkey for ${origin}: the operator adds what ${named} shows.`,
    );
  } catch (error) {
    // No passkey belongs to the number of a machine.
    if (error instanceof Fail) return session(error.message);
    throw error;
  }
}

/** What a page asks a passkey by, for one decision on one content. @throws Fail `conflict` for who has none that counts */
export async function askForDecision(
  deps: Deps & Parameters<typeof merchantTime>[0],
  deciding: Deciding,
  { subject, decision }: { subject: Subject; decision: Decision },
) {
  const policy = await countedApprovals.readPolicyForPage(deps.chains, deciding.caller);
  const { passkeys: own, hint } = await wayOf(deps, deciding, policy);
  const [first] = own;
  if (first === undefined) throw new Fail('conflict', hint ?? 'There is no passkey.');
  const validUntil = merchantTime(deps, deciding.caller).seconds + VALID_SECONDS;
  const { mode } = deciding.caller;
  const statement = signedApprovals.statementFor(subject, { mode, decision, validUntil });
  return {
    valid_until: validUntil,
    digest: statement.items,
    statement: statementText(statement),
    options: {
      challenge: Buffer.from(approvalChallenge(statement)).toString('base64url'),
      rpId: first.rpId,
      timeout: TIMEOUT_MS,
      userVerification: 'required',
      allowCredentials: own.map(({ credentialId }) => ({
        id: credentialId.toString('base64url'),
        type: 'public-key',
      })),
    },
  };
}

/** A passkey's answer, as browsers give it (base64url). */
export interface GivenAnswer {
  validUntil: number;
  credential: {
    id: string;
    response: { clientDataJSON: string; authenticatorData: string; signature: string };
  };
}

const hexOf = (text: string) => `0x${Buffer.from(text, 'base64url').toString('hex')}`;

/** The signature that an answer is. Whether it is right is checked where it is kept. @throws Fail `authentication_required` */
export async function signedByPasskey(
  deps: Deps,
  { user, publicUrl }: Deciding,
  { validUntil, credential: { id, response } }: GivenAnswer,
): Promise<signedApprovals.SignedBy> {
  const { rpID: rpId, origin } = passkeys.relyingParty(publicUrl);
  const given = Buffer.from(id, 'base64url');
  const own = (await passkeys.listPublicKeys(deps, user.user_id)).find(({ credentialId }) =>
    credentialId.equals(given),
  );
  if (own === undefined)
    throw new Fail('authentication_required', {
      message: 'This is no passkey of yours.',
      param: 'credential',
    });
  const { credentialId, key } = own;
  return {
    name: user.email,
    publicKey: null,
    validUntil,
    signature: hexOf(response.signature),
    passkey: {
      credentialId,
      key,
      rpId,
      origin,
      authenticatorData: hexOf(response.authenticatorData),
      clientDataJSON: hexOf(response.clientDataJSON),
    },
  };
}
