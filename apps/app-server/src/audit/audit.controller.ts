import { Controller, Header, StreamableFile } from '@nestjs/common';
import {
  type AuditExportQuery,
  type AuditPage,
  type AuditQuery,
  type AuditVerification,
  type VerifyAuditQuery,
} from '@slipway/contracts/audit';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Caller, Query } from '../http/params.js';
import { Serves } from '../http/serves.js';
import { AuditService } from './audit.service.js';

@Controller()
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Serves(operations.listAudit)
  list(@Caller() caller: Principal, @Query() query: AuditQuery): Promise<AuditPage> {
    return this.audit.list(caller, query);
  }

  @Serves(operations.exportAudit)
  @Header('cache-control', 'no-store')
  async export(@Caller() caller: Principal, @Query() query: AuditExportQuery): Promise<StreamableFile> {
    return new StreamableFile(await this.audit.export(caller, query), {
      type: 'application/x-ndjson',
      disposition: `attachment; filename="audit-${caller.orgId}.ndjson"`,
    });
  }

  @Serves(operations.verifyAudit)
  verify(@Caller() caller: Principal, @Query() query: VerifyAuditQuery): Promise<AuditVerification> {
    return this.audit.verify(caller, query);
  }
}
