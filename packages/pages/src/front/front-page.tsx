import { translatorOf } from '../catalogues.ts';
import { Rows } from '../design/parts.tsx';
import type { WidePage } from '../design/shell.tsx';
import { Block, Code, LiveList, liveScriptOf, Time } from '../live/live-list.tsx';
import type { BuiltScript } from '../renderer.ts';
import type { FrontEvent, FrontView, ServiceView } from '../views/front.ts';

const t = translatorOf('front', 'en');

export function frontPage(view: FrontView, script: BuiltScript): WidePage {
  return {
    title: t('title'),
    hasForm: true,
    body: (
      <>
        <h1>{t('title')}</h1>
        <p class="quiet">{t('intro')}</p>
        <Running view={view} />
        <Steps view={view} />
        <h2>{t('events')}</h2>
        <LiveList>
          <FrontList events={view.events} />
        </LiveList>
      </>
    ),
    script: liveScriptOf(view, script),
  };
}

function Running({ view: { version, merchant, networks } }: { view: FrontView }) {
  const heights = networks.map(({ name, height }) =>
    height === null ? t('network_away', { name }) : t('network_block', { name, height }),
  );
  return (
    <Rows
      rows={[
        [t('version'), version],
        [t('networks'), heights.join(' · ')],
        [t('merchant'), `${merchant.name} · ${merchant.id} · ${merchant.storeId}`],
        [t('keys'), t('keys_text')],
        [
          t('documentation'),
          <>
            <a href="/docs">{t('docs')}</a> · <a href="/docs/api">{t('reference')}</a> ·{' '}
            <a href="/openapi.json">OpenAPI</a>
          </>,
        ],
      ]}
    />
  );
}

function Steps({ view: { signedRequest, checkoutPath, inboxPath, mailsPath } }: { view: FrontView }) {
  return (
    <ol class="steps">
      <li>
        <h2>{t('pay_title')}</h2>
        <p>{t('pay_text')}</p>
        <form method="post" action={checkoutPath}>
          <button type="submit">{t('pay_button')}</button>
        </form>
      </li>
      <li>
        <h2>{t('sign_title')}</h2>
        <p>{t('sign_text')}</p>
        <Code id="signed-request" label={t('sign_label')} text={signedRequest} />
        <button type="button" class="plain" data-copies="signed-request" hidden>
          {t('copy')}
        </button>
      </li>
      <li>
        <h2>{t('hooks_title')}</h2>
        <p>{t('hooks_text')}</p>
        <a class="button plain" href={inboxPath}>
          {t('hooks_button')}
        </a>
      </li>
      <li>
        <h2>{t('mails_title')}</h2>
        <p>{t('mails_text')}</p>
        <a class="button plain" href={mailsPath}>
          {t('mails_button')}
        </a>
      </li>
    </ol>
  );
}

function Line({ event: { id, type, resource, createdAt } }: { event: FrontEvent }) {
  return (
    <>
      <Time iso={createdAt} /> <code id={`${id}-title`}>{type}</code> <span class="quiet">{resource}</span>
    </>
  );
}

export function FrontList({ events }: { events: readonly FrontEvent[] }) {
  if (events.length === 0) {
    return (
      <Block id="nothing">
        <p id="nothing-title">{t('no_event')}</p>
      </Block>
    );
  }
  return (
    <>
      {events.map((event) => (
        <Block key={event.id} id={event.id} kind="event line">
          <Line event={event} />
        </Block>
      ))}
    </>
  );
}

export function servicePage(_view: ServiceView): WidePage {
  return {
    title: t('service_title'),
    body: (
      <>
        <h1>Florin</h1>
        <p>{t('service_text')}</p>
        <p>
          <a href="/docs">{t('docs')}</a> · <a href="/docs/api">{t('reference')}</a> ·{' '}
          <a href="/openapi.json">OpenAPI</a>
        </p>
      </>
    ),
  };
}
