import { randomBytes } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import type { ProofOutcome, WalletText } from '@florin/pages';
import { ChainUnavailable } from '../../chains/port/index.ts';
import { type MerchantRef, type PaymentDeps, proveWallet } from '../../payments/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import { checkRecipient } from '../../transfers/recipients/index.ts';
import { type TextFacts, walletText } from './wallet-text.ts';

/** Hardware wallets are fetched and unlocked in this time. */
const VALID_SECONDS = 30 * 60;
const NONCE_BYTES = 16;

/** The session whose payer proves a wallet. */
export interface ProvingPage {
  merchant: MerchantRef;
  session: { session_id: string; payment_id: string };
}

/** What the page brings back with the signature, sealed: the server keeps nothing of a text that nobody signs. */
interface Asked {
  network: Network;
  account: string;
  nonce: string;
  /** Unix seconds. */
  issuedAt: number;
}

type ProofDeps = Pick<PaymentDeps, 'db' | 'vault' | 'chains'> & {
  clock: Pick<PaymentDeps['clock'], 'nowMs'>;
};

/** Real time: a sandbox merchant's clock may stand anywhere. */
const nowOf = ({ clock }: Pick<ProofDeps, 'clock'>) => Math.floor(clock.nowMs() / 1_000);

const contextOf = ({ merchant, session }: ProvingPage) =>
  `wallet text ${merchant.merchantId} ${session.session_id}`;

function textOf(deps: ProofDeps, page: ProvingPage, publicUrl: string, asked: Asked): string {
  const { network, issuedAt, ...rest } = asked;
  return walletText({
    ...rest,
    publicUrl,
    ...namesOf(deps.chains.facts(page.merchant, network)),
    issuedAt,
    expiresAt: issuedAt + VALID_SECONDS,
    sessionId: encodeId('checkoutSession', page.session.session_id),
  });
}

/** As wallets of the network name it, and the chain. */
function namesOf(facts: ReturnType<ProofDeps['chains']['facts']>): Pick<TextFacts, 'wallets' | 'chainId'> {
  const wallets = facts?.wallets;
  if (wallets?.kind === 'solana')
    return { wallets: 'Solana', chainId: wallets.chain.replace(/^solana:/, '') };
  return { wallets: wallets?.kind === 'tron' ? 'Tron' : 'Ethereum', chainId: String(wallets?.chainId ?? 0) };
}

/** The text for that wallet to sign, once; undefined where it is no wallet of the network. */
export function textToSign(
  deps: ProofDeps,
  page: ProvingPage,
  { publicUrl, network, account }: { publicUrl: string; network: Network; account: string },
): WalletText | undefined {
  const { canonical, fault } = checkRecipient(network, account, { allowProgramOwned: true });
  if (fault !== undefined) return undefined;
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  const asked: Asked = { network, account: canonical, nonce, issuedAt: nowOf(deps) };
  const sealed = deps.vault.seal(Buffer.from(JSON.stringify(asked)), contextOf(page));
  return { text: textOf(deps, page, publicUrl, asked), token: sealed.toString('base64url') };
}

/**
 * Records the payer's wallet if it has signed its text: the same session's, in time, every byte of it.
 *
 * @param signed.token of `textToSign`
 */
export async function proveByText(
  deps: ProofDeps,
  page: ProvingPage,
  { publicUrl, token, signature }: { publicUrl: string; token: string; signature: string },
): Promise<ProofOutcome> {
  const asked = openToken(deps, page, token);
  if (asked === undefined) return 'signature';
  const { network, account: address, issuedAt } = asked;
  if (nowOf(deps) > issuedAt + VALID_SECONDS) return 'expired';
  const text = textOf(deps, page, publicUrl, asked);
  try {
    const isSigned = await deps.chains.isSignedText(page.merchant, network, { address, text, signature });
    if (!isSigned) return 'signature';
  } catch (error) {
    if (error instanceof ChainUnavailable) return 'away';
    throw error;
  }
  return (await proveWallet(deps, page.merchant, page.session.payment_id, address)) ? 'proven' : 'other';
}

/** Undefined for what was not sealed for this session. */
function openToken(deps: ProofDeps, page: ProvingPage, token: string): Asked | undefined {
  try {
    return JSON.parse(deps.vault.open(Buffer.from(token, 'base64url'), contextOf(page)).toString());
  } catch {
    return undefined;
  }
}
