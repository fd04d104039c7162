export { FUND_JOB, fund, payFunding, type SandboxDeps } from './fund.ts';
export { sandboxRoutes } from './routes.ts';
export { type SandboxCredentials, seedSandbox } from './seed.ts';
