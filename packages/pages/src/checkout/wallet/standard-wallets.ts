import { getWallets } from '@wallet-standard/app';
import { type FoundWallet, plainName } from './found-wallets.ts';

// Loaded where the page has something to pay that wallets of this standard pay.

const NEEDED = ['standard:connect', 'solana:signAndSendTransaction'];

/**
 * Tells the wallets of this browser that pay on a chain, and tells them again when another one registers.
 *
 * @param chain such as `solana:mainnet`
 * @returns ends it
 */
export function followStandardWallets(
  chain: string,
  onWallets: (wallets: readonly FoundWallet[]) => void,
): () => void {
  const registered = getWallets();
  const tell = () =>
    onWallets(
      registered.get().flatMap((wallet, i): FoundWallet[] => {
        // Of what somebody's extension says of itself.
        const { name: given, chains, features, icon: picture } = Object(wallet);
        const name = plainName(String(given ?? ''));
        const canPay = NEEDED.every((feature) => feature in Object(features));
        const isOfChain = Array.isArray(chains) && chains.includes(chain);
        if (name === '' || !canPay || !isOfChain) return [];
        const icon = typeof picture === 'string' && picture.startsWith('data:image/') ? picture : null;
        return [{ kind: 'solana', id: `${i} ${name}`, name, icon, wallet }];
      }),
    );
  const stop = registered.on('register', tell);
  tell();
  return stop;
}
