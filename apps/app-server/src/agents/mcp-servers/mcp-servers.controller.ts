import { Controller, Param } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type CreateMcpServer,
  type McpServer,
  type McpServerList,
  type McpServerTest,
  type UpdateMcpServer,
} from '@slipway/contracts/secrets';
import { Body, Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { McpServersService } from './mcp-servers.service.js';
import { McpTestService } from './mcp-test.service.js';

@Controller()
export class McpServersController {
  constructor(
    private readonly servers: McpServersService,
    private readonly tests: McpTestService,
  ) {}

  @Serves(operations.listMcpServers)
  list(@Caller() caller: Principal): Promise<McpServerList> {
    return this.servers.list(caller);
  }

  @Serves(operations.createMcpServer)
  create(@Caller() caller: Principal, @Body() body: CreateMcpServer): Promise<McpServer> {
    return this.servers.create(caller, body);
  }

  @Serves(operations.updateMcpServer)
  update(@Caller() caller: Principal, @Param('server') id: string, @Body() body: UpdateMcpServer): Promise<McpServer> {
    return this.servers.update(caller, id, body);
  }

  @Serves(operations.deleteMcpServer)
  delete(@Caller() caller: Principal, @Param('server') id: string): Promise<void> {
    return this.servers.delete(caller, id);
  }

  @Serves(operations.testMcpServer)
  test(@Caller() caller: Principal, @Param('server') id: string): Promise<McpServerTest> {
    return this.tests.test(caller, id);
  }
}
