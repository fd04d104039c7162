export { checkExternalId, ensureCustomer } from './ensure-customer.ts';
export { findCustomerId, readCustomer } from './read-customer.ts';
export { customerRoutes } from './routes.ts';
