import { EVENT_CATALOGUE } from '@florin/contract/event-catalogue';
import * as schemas from '@florin/contract/schemas';
import type { TObject } from 'typebox';
import Value from 'typebox/value';
import { expect, test } from 'vitest';
import { bodyOf } from './event-bodies.ts';

const RESOURCES: Record<string, TObject> = {
  payment: schemas.Payment,
  refund: schemas.Refund,
  subscription: schemas.Subscription,
  invoice: schemas.Invoice,
  payout_batch: schemas.PayoutBatch,
  payout_item: schemas.PayoutItem,
  payment_method: schemas.PaymentMethod,
  webhook_endpoint: schemas.WebhookEndpoint,
};

for (const [type, { resource }] of Object.entries(EVENT_CATALOGUE)) {
  test(`the body of ${type} is one that the API could send`, () => {
    const body = bodyOf(type as schemas.RecordedEventType);
    const { object, previous_attributes: before } = body.data;
    const schema = RESOURCES[resource];
    if (schema === undefined) throw new Error(`no schema of ${resource}`);
    expect([...Value.Errors(schemas.Event, body), ...Value.Errors(schema, object)]).toEqual([]);
    // The resource before the change was one as well; a field that was absent is null.
    const { properties } = schema;
    for (const [field, value] of Object.entries(before ?? {})) {
      const now = (object as Record<string, unknown>)[field];
      expect(Object.keys(properties), field).toContain(field);
      expect(value, field).not.toEqual(now);
    }
  });
}
