import { render } from 'preact';
import { useState } from 'preact/hooks';
import { useFoundWallets } from '../../checkout/wallet/found-wallets.ts';
import { toneOf } from '../../checkout/wallet/tones.ts';
import { WalletApps } from '../../checkout/wallet/wallet-apps.tsx';
import { Note, Rows } from '../../design/parts.tsx';
import { type Translate, translator } from '../../texts.ts';
import { type Choice as Choosing, type Chosen, optionOf, shownTerms, useMandate } from './use-mandate.ts';
import type { WalletData } from './wallet-data.ts';

interface Part {
  data: WalletData;
  t: Translate<'wallet'>;
  isBusy: boolean;
}

/** What the wallet would allow, as it stands in what it signs. */
function Terms({ data, t, isBusy, chosen, give }: Part & { chosen: Chosen; give: () => void }) {
  const { wallet, wallets, terms, token } = chosen;
  const name = wallet.name;
  const { kind } = wallets;
  const isSigned = terms.offer.steps[0].kind === 'permit';
  const isBuilt = kind !== 'ethereum';
  const isOurs = kind === 'solana';
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
          [t(isOurs ? 'terms_delegate' : 'terms_spender'), exact('spender')],
        ]}
      />
      {/* What a network does not keep is said as loudly as the limit itself. */}
      {isOurs ? <Note tone="warn">{t('terms_kept_here')}</Note> : null}
      <p class="small quiet">{t(isOurs ? 'terms_use_delegate' : 'terms_use', { token })}</p>
      <p class="small quiet">
        {t(isSigned ? 'terms_text_signed' : isBuilt ? 'terms_text_fee' : 'terms_text', { wallet: name })}
      </p>
      <button type="button" disabled={isBusy} onClick={give}>
        {t(isSigned ? 'terms_sign' : isBuilt ? 'terms_sign_approve' : 'terms_confirm', { wallet: name })}
      </button>
    </>
  );
}

const optionsOf = ({ wallets }: WalletData) =>
  wallets.flatMap((one) =>
    one.options.map(({ token }) => ({ id: optionOf(token, one.network), token, wallets: one })),
  );

/** A choice of tokens and networks, if there is one, and the wallets that were found for it. */
function Choice({ data, t, isBusy, begin }: Part & { begin: (choice: Choosing) => void }) {
  const options = optionsOf(data);
  const [id, setId] = useState(options[0]?.id);
  const option = options.find((one) => one.id === id);
  const { wallets: found, isAlone } = useFoundWallets(option?.wallets ?? null);
  const { summary, text, links } = data.apps;
  if (option === undefined) return null;
  return (
    <>
      {options.length < 2 ? null : (
        <fieldset disabled={isBusy}>
          <legend>{data.chooseText}</legend>
          {options.map((one) => (
            <label class="option" key={one.id}>
              <input type="radio" name="option" checked={one.id === id} onChange={() => setId(one.id)} />
              <span>{data.optionTexts[one.id]}</span>
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
          onClick={() => begin({ wallet, wallets: option.wallets, token: option.token })}
        >
          {wallet.icon === null ? null : <img src={wallet.icon} alt="" width={24} height={24} />}
          <span>{t('begin_with', { wallet: wallet.name })}</span>
        </button>
      ))}
      {found.length > 0 ? null : (
        <>
          <Note tone="plain">{data.noneText}</Note>
          <WalletApps
            isAlone={isAlone}
            kind={option.wallets.kind}
            texts={{ summary, text, open: (name) => links[name] ?? name }}
          />
        </>
      )}
    </>
  );
}

/** What was sent can be looked up, where the networks file names an explorer. */
function TransactionLink(
  props: Pick<Part, 'data' | 't'> & { sent: { hash: string; option: string } | null },
) {
  const { sent, data, t } = props;
  const explorer = optionsOf(data).find(({ id }) => id === sent?.option)?.wallets.explorer ?? null;
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
  const { said, sent, isBusy, isTampered, chosen, begin, give, stop } = useMandate(data, t);
  if (isTampered) {
    return (
      <Note tone="bad" role="alert" title={data.tampered.heading}>
        {data.tampered.text}
      </Note>
    );
  }
  const part = { data, t, isBusy };
  return (
    <>
      {chosen === null ? (
        <Choice {...part} begin={(choice) => void begin(choice)} />
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
