import {
  EVENT_ID_HEADER,
  EVENT_TYPE_HEADER,
  NONCE_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from '@florin/contract/signing';
import { translatorOf } from '../catalogues.ts';
import { Block, Code, Time } from '../live/live-list.tsx';
import type {
  InboxAttempt,
  InboxDelivery,
  InboxEndpoint,
  InboxEvent,
  InboxList as List,
} from '../views/inbox.ts';

const t = translatorOf('inbox', 'en');

const COMMANDS = `npx florin listen --forward-to http://localhost:3000/webhooks
npx florin endpoints create https://shop.example/webhooks --types '*,payout_batch.updated'`;

function Badge({ kind, text }: { kind: string; text: string }) {
  return <span class={`badge ${kind}`}>{text}</span>;
}

function Endpoint({ endpoint: { id, url, types, status, disabledReason } }: { endpoint: InboxEndpoint }) {
  const state = disabledReason === null ? status : `${status} (${disabledReason})`;
  return (
    <tr>
      <td>
        <code>{url}</code>
        <br />
        <span class="quiet">{id}</span>
      </td>
      <td>{types.join(', ')}</td>
      <td>
        <Badge kind={status} text={state} />
      </td>
    </tr>
  );
}

function Endpoints({ endpoints }: { endpoints: readonly InboxEndpoint[] }) {
  return (
    <>
      <h2 id="endpoints-title">{t('endpoints')}</h2>
      {endpoints.length === 0 ? (
        <>
          <p>{t('no_endpoint')}</p>
          <Code label={t('commands')} text={COMMANDS} />
        </>
      ) : (
        <table>
          <Head names={[t('address'), t('types'), t('status')]} />
          <tbody>
            {endpoints.map((endpoint) => (
              <Endpoint key={endpoint.id} endpoint={endpoint} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Head({ names }: { names: readonly string[] }) {
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Attempt({ attempt: { at, statusCode, failure, durationMs, response } }: { attempt: InboxAttempt }) {
  const answer = [statusCode, failure].filter((part) => part !== null).join(' ');
  return (
    <tr>
      <td>
        <Time iso={at} />
      </td>
      <td>
        <Badge kind={failure === null ? 'delivered' : 'failed'} text={answer} />
      </td>
      <td>{durationMs} ms</td>
      <td>{response === null ? '–' : <code class="answer">{response}</code>}</td>
    </tr>
  );
}

function Delivery({ delivery: { id, url, status, nextAt, attempts } }: { delivery: InboxDelivery }) {
  return (
    <>
      <p>
        <Badge kind={status} text={status} /> {t('to')} <code>{url}</code>
        {nextAt === null ? null : (
          <>
            {` · ${t('next_attempt')} `}
            <Time iso={nextAt} />
          </>
        )}
      </p>
      {attempts.length === 0 ? null : (
        <table>
          <caption class="quiet">{t('attempts_of', { id })}</caption>
          <Head names={[t('began'), t('answer'), t('took'), t('answer_body')]} />
          <tbody>
            {attempts.map((attempt, i) => (
              <Attempt key={i} attempt={attempt} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Headers({ event: { id, type } }: { event: InboxEvent }) {
  const rows = [
    ['Content-Type', 'application/json', ''],
    ['User-Agent', 'Service-Webhook/1.0', ''],
    [EVENT_TYPE_HEADER, type, t('type_note')],
    [EVENT_ID_HEADER, id, t('id_note')],
    [TIMESTAMP_HEADER, t('timestamp_value'), t('timestamp_note')],
    [NONCE_HEADER, t('nonce_value'), t('nonce_note')],
    [SIGNATURE_HEADER, t('signature_value'), t('signature_note')],
  ] as const;
  return (
    <>
      <h3>{t('headers')}</h3>
      <table>
        <tbody>
          {rows.map(([name, value, note]) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{value}</td>
              <td class="quiet">{note}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Event({ event }: { event: InboxEvent }) {
  const { id, type, resource, sequence, createdAt, body, deliveries } = event;
  return (
    <>
      <h2 id={`${id}-title`}>
        <code>{type}</code>
      </h2>
      <p class="quiet">
        <Time iso={createdAt} /> · {resource} · {t('sequence', { number: sequence })} · {id}
      </p>
      {deliveries.length === 0 ? <p class="quiet">{t('not_delivered')}</p> : null}
      {deliveries.map((delivery) => (
        <Delivery key={delivery.id} delivery={delivery} />
      ))}
      <details id={`${id}-body`}>
        <summary id={`${id}-fold`}>{t('fold')}</summary>
        <Headers event={event} />
        <h3>{t('body')}</h3>
        <p class="quiet">{t('body_note')}</p>
        <Code label={t('body_of', { id })} text={JSON.stringify(JSON.parse(body), null, 2)} />
      </details>
    </>
  );
}

function NoEvent() {
  return (
    <>
      <h2 id="nothing-title">{t('no_event_title')}</h2>
      <p>
        {t('no_event_text')} <code>npx florin trigger payout_batch.updated</code>
      </p>
    </>
  );
}

export function InboxList({ list: { endpoints, events } }: { list: List }) {
  return (
    <>
      <Block id="endpoints">
        <Endpoints endpoints={endpoints} />
      </Block>
      {events.map((event) => (
        <Block key={event.id} id={event.id} kind="event">
          <Event event={event} />
        </Block>
      ))}
      {events.length > 0 ? null : (
        <Block id="nothing">
          <NoEvent />
        </Block>
      )}
    </>
  );
}
