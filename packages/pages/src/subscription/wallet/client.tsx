import { render } from 'preact';
import { useState } from 'preact/hooks';
import { type EthereumWallet, useEthereumWallets } from '../../checkout/wallet/found-wallets.ts';
import { toneOf } from '../../checkout/wallet/tones.ts';
import { WalletApps } from '../../checkout/wallet/wallet-apps.tsx';
import { Note, Rows } from '../../design/parts.tsx';
import { type Translate, translator } from '../../texts.ts';
import { type Chosen, shownTerms, useMandate } from './use-mandate.ts';
import type { WalletData } from './wallet-data.ts';

interface Part {
  data: WalletData;
  t: Translate<'wallet'>;
  isBusy: boolean;
}

/** What the wallet would allow, as it stands in what it signs. */
function Terms({ data, t, isBusy, chosen, give }: Part & { chosen: Chosen; give: () => void }) {
  const { wallet, terms } = chosen;
  const name = wallet.name;
  const isSigned = terms.offer.steps[0].kind === 'permit';
  const shown = shownTerms(chosen, data, t);
  const exact = (name: keyof typeof shown) => (
    <bdi key={name} data-exact={name}>
      {shown[name]}
    </bdi>
  );
  return (
    <>
      <Rows
        rows={[
          [exact('period'), exact('cap')],
          [t('terms_count'), exact('count')],
          [t('terms_end'), exact('end')],
          [t('terms_approval'), exact('approval')],
          [t('terms_spender'), exact('spender')],
        ]}
      />
      <p class="small quiet">{t('terms_use')}</p>
      <p class="small quiet">{t(isSigned ? 'terms_text_signed' : 'terms_text', { wallet: name })}</p>
      <button type="button" disabled={isBusy} onClick={give}>
        {t(isSigned ? 'terms_sign' : 'terms_confirm', { wallet: name })}
      </button>
    </>
  );
}

/** A choice of tokens, if there is one, and the wallets that were found. */
function Choice(
  props: Part & { found: readonly EthereumWallet[]; begin: (wallet: EthereumWallet, token: string) => void },
) {
  const { data, t, isBusy, found, begin } = props;
  const { options } = data.wallets;
  const [token, setToken] = useState(options[0]?.token ?? '');
  return (
    <>
      {options.length < 2 ? null : (
        <fieldset disabled={isBusy}>
          <legend>{data.chooseText}</legend>
          {options.map(({ token: one }) => (
            <label class="option" key={one}>
              <input type="radio" name="token" checked={one === token} onChange={() => setToken(one)} />
              <span>{data.optionTexts[one]}</span>
            </label>
          ))}
        </fieldset>
      )}
      {found.map((wallet) => (
        <button
          key={wallet.id}
          class="gap wallet"
          type="button"
          disabled={isBusy}
          onClick={() => begin(wallet, token)}
        >
          {wallet.icon === null ? null : <img src={wallet.icon} alt="" width={24} height={24} />}
          <span>{t('begin_with', { wallet: wallet.name })}</span>
        </button>
      ))}
    </>
  );
}

/** What was sent can be looked up, where the networks file names an explorer. */
function TransactionLink({ sent, data, t }: Pick<Part, 'data' | 't'> & { sent: { hash: string } | null }) {
  const { explorer } = data.wallets;
  if (sent === null || explorer === null) return null;
  return (
    <p class="small">
      <a href={explorer.replace('{tx_id}', encodeURIComponent(sent.hash))} target="_blank" rel="noreferrer">
        {t('see_transaction')}
      </a>
    </p>
  );
}

function App({ data }: { data: WalletData }) {
  const t = translator(data.texts, data.language);
  const { wallets: found, isAlone } = useEthereumWallets(true);
  const { said, sent, isBusy, isTampered, chosen, begin, give, stop } = useMandate(data, t);
  if (isTampered) {
    return (
      <Note tone="bad" role="alert" title={data.tampered.heading}>
        {data.tampered.text}
      </Note>
    );
  }
  if (found.length === 0) {
    const { summary, text, links } = data.apps;
    return (
      <>
        <Note tone="plain">{data.noneText}</Note>
        <WalletApps
          isAlone={isAlone}
          kind="ethereum"
          texts={{ summary, text, open: (name) => links[name] ?? name }}
        />
      </>
    );
  }
  const part = { data, t, isBusy };
  return (
    <>
      {chosen === null ? (
        <Choice {...part} found={found} begin={(...choice) => void begin(...choice)} />
      ) : (
        <>
          <Terms {...part} chosen={chosen} give={() => void give(chosen)} />
          {isBusy ? null : (
            <button type="button" class="plain gap" onClick={stop}>
              {data.otherText}
            </button>
          )}
        </>
      )}
      <div class="gap" role="status" aria-live="polite">
        {said === null ? null : <Note tone={toneOf(said.word)}>{said.text}</Note>}
        {said === null && chosen === null && sent !== null ? (
          <Note tone="plain">{t('approval_sent')}</Note>
        ) : null}
        <TransactionLink sent={sent} data={data} t={t} />
      </div>
      {isBusy ? (
        <button type="button" class="plain gap" onClick={stop}>
          {t('stop')}
        </button>
      ) : null}
    </>
  );
}

const data: WalletData = JSON.parse(document.getElementById('data')?.textContent ?? '');
const root = document.getElementById('wallets');
if (root !== null) {
  root.replaceChildren();
  render(<App data={data} />, root);
}
