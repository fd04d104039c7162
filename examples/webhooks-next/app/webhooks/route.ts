import { webhooks } from '@florin/sdk';

// A route of the App Router, `app/webhooks/route.ts`. The repository's test calls it through a bridge from node:http
// to the standard Request, without Next.js itself.
const receiver = webhooks.receiver({
  // A function, because `next build` loads this file on machines that have no secret.
  secret: () => process.env.FLORIN_SECRET_KEY,
  onEvent: (event) => console.log('received', event.type, event.id),
});

export const POST = receiver.fetch;
