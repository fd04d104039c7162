import type { RedeliverInput, WebhookEndpointInput } from '@florin/contract/schemas';
import type { Examples } from './example.ts';
import { IDS } from './ids.ts';

const ENDPOINT = { call: 'createWebhookEndpoint' };
const DELIVERY = [ENDPOINT, { call: 'testWebhookEndpoint' }];
/** Nobody answers at the example's URL, and a delivery that is still retried is not sent again by request. */
const ENDED = [
  { ...ENDPOINT, body: { url: 'https://webhooks.test/410', types: ['*'] } satisfies WebhookEndpointInput },
  { call: 'testWebhookEndpoint' },
  { call: 'retrieveDelivery', until: { status: 'failed' } },
];
const EVENTS = [{ call: 'createPayoutBatch' }, { call: 'submitPayoutBatch' }, { call: 'listEvents' }];

const STREAM = `for await (const event of florin.events.stream({ after: 'start' })) {
  console.log(event.type, event.id);
  break;
}`;

export const WEBHOOK_EXAMPLES: Examples = {
  listEvents: { sdk: 'events.list', given: EVENTS.slice(0, 2), makes: { [IDS.event]: 'data.0.id' } },
  streamEvents: { sdk: 'events.stream', code: STREAM, query: { after: 'start' }, given: EVENTS },
  retrieveEvent: { sdk: 'events.retrieve', given: EVENTS },
  createWebhookEndpoint: {
    sdk: 'webhookEndpoints.create',
    body: {
      url: 'https://shop.example/webhooks',
      types: ['payment.completed', 'payment.updated', 'refund.succeeded'],
    } satisfies WebhookEndpointInput,
    makes: { [IDS.endpoint]: 'id' },
  },
  listWebhookEndpoints: { sdk: 'webhookEndpoints.list', given: [ENDPOINT] },
  retrieveWebhookEndpoint: { sdk: 'webhookEndpoints.retrieve', given: [ENDPOINT] },
  updateWebhookEndpoint: { sdk: 'webhookEndpoints.update', body: { types: ['*'] }, given: [ENDPOINT] },
  testWebhookEndpoint: {
    sdk: 'webhookEndpoints.test',
    given: [ENDPOINT],
    makes: { [IDS.delivery]: 'id' },
  },
  redeliverToWebhookEndpoint: {
    sdk: 'webhookEndpoints.redeliver',
    body: { since: 1_764_547_200, which: 'failed' } satisfies RedeliverInput,
    given: [ENDPOINT],
  },
  listDeliveries: { sdk: 'deliveries.list', given: DELIVERY },
  retrieveDelivery: { sdk: 'deliveries.retrieve', given: DELIVERY },
  redeliverDelivery: { sdk: 'deliveries.redeliver', given: ENDED },
};
