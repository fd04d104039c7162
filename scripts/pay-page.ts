/** What a payer's page asks for. */
export interface Asked {
  /** On the network that was asked for. */
  to: string;
  /** In tokens: `12.50`. */
  amount: string;
}

interface PageState {
  state?: unknown;
  due?: { address?: unknown; amount?: unknown; token?: unknown } | null;
}

const FORM_MS = 30_000;

interface Wanted {
  token: 'USDT' | 'USDC';
  network: 'erc20' | 'trc20' | 'spl';
  /** Of that network. */
  isAddress: (text: string) => boolean;
}

/**
 * Chooses a token and a network on a payer's page, as its form does without script.
 *
 * @param page its address, such as `http://127.0.0.1:8420/checkout/…`
 * @throws Error with one line
 */
export async function askPage(page: string, { token, network, isAddress }: Wanted): Promise<Asked> {
  const url = URL.parse(page);
  if (url === null || !/^https?:$/.test(url.protocol) || !url.pathname.includes('/checkout/'))
    throw new Error(`--page takes the address of a payer's page (http://…/checkout/…), not "${page}"`);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ option: `${token}:${network}` }),
    redirect: 'error',
    signal: AbortSignal.timeout(FORM_MS),
  }).catch(() => {
    throw new Error(`nothing answers at ${url.origin}: is the store running?`);
  });
  if (answer.status === 404) throw new Error('there is no such page: compare its address');
  if (!answer.ok) throw new Error(`the page takes no ${token} on ${network} (HTTP ${answer.status})`);
  const { state, due } = (await answer.json()) as PageState;
  if (due == null) throw new Error(`the page asks for nothing any more: it is ${String(state)}`);
  const { address, amount } = due;
  if (due.token !== token)
    throw new Error(`the payment has begun in ${String(due.token)}: give --token and --network`);
  if (typeof address !== 'string' || !isAddress(address) || typeof amount !== 'string')
    throw new Error(`the page asks for ${String(amount)} at ${String(address)}, which is not on ${network}`);
  return { to: address, amount };
}
