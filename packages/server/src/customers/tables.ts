declare module '../platform/db/db.ts' {
  interface Tables {
    customer: {
      merchant_id: string;
      customer_id: string;
      external_customer_id: string;
      email: string | null;
      name: string | null;
      phone: string | null;
      description: string | null;
      /** In which the customer reads the pages of subscriptions. */
      payer_language: string | null;
      created_at: bigint | number;
    };
  }
}
