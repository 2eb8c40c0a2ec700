/** Where a sealed value belongs; one moved to another session does not open. */
export const keyContext = (orgId: string, sessionId: string): string => `runtime-key:${orgId}:${sessionId}`;
export const environmentContext = (orgId: string, sessionId: string): string =>
  `runtime-environment:${orgId}:${sessionId}`;
