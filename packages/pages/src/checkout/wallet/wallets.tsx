import { Note } from '../../design/parts.tsx';
import type { Page } from '../context.ts';
import { toneOf } from './tones.ts';
import { ASKING, isTold } from './use-wallets.ts';
import { WalletApps } from './wallet-apps.tsx';

/** What became of the payment by a wallet, and of its proof. Once the page has seen the payment, it says itself how that is. */
export function WalletStatus({ page }: { page: Page }) {
  const { status, isBusy, stop } = page.wallets;
  if (status === null) return null;
  const { payment, proof } = status;
  const tone = toneOf(payment.word);
  return (
    <>
      {isTold(page.view.state, payment.word) ? (
        <Note tone={tone}>
          {payment.text}
          {isBusy && ASKING.has(payment.word) ? (
            <button type="button" class="plain" onClick={stop}>
              {status.stopText}
            </button>
          ) : null}
        </Note>
      ) : null}
      {proof === null ? null : <Note tone={toneOf(proof.word)}>{proof.text}</Note>}
    </>
  );
}

/** The wallets that were found in this browser. */
export function FoundWallets({ page }: { page: Page }) {
  const { t, wallets, isBusy } = page;
  return (
    <>
      {wallets.found.map((wallet) => (
        <button
          key={wallet.id}
          class="gap wallet"
          type="button"
          disabled={isBusy || wallets.isBusy}
          onClick={() => wallets.pay(wallet)}
        >
          {wallet.icon === null ? null : <img src={wallet.icon} alt="" width={24} height={24} />}
          <span>{t('wallet_pay', { wallet: wallet.name })}</span>
        </button>
      ))}
      <WalletStatus page={page} />
      <WalletApps
        isAlone={wallets.isAlone}
        kind={page.view.due?.wallet?.kind ?? 'ethereum'}
        texts={{
          summary: t('wallet_apps'),
          text: t('wallet_apps_text'),
          open: (wallet) => t('wallet_open', { wallet }),
        }}
      />
    </>
  );
}
