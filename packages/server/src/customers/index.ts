export { checkExternalId, ensureCustomer } from './ensure-customer.ts';
export { customerRoutes } from './routes.ts';
