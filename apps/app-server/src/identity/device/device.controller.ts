import { Controller, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { SignedIn } from '@slipway/auth';
import {
  type ApproveDevice,
  DEVICE_GRANT_TYPE,
  DeviceAuthorizationForm,
  type DeviceProblem,
  type DeviceRequest,
  DeviceTokenForm,
} from '@slipway/contracts/identity';
import { operations } from '@slipway/contracts/operations';
import type { Logger } from '@slipway/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Limits } from '../../http/limits.js';
import { Body, User } from '../../http/params.js';
import { AuthenticatesItself, Serves } from '../../http/serves.js';
import { LOGGER } from '../../platform/tokens.js';
import { DeviceRefusal, DeviceService } from './device.service.js';

/** What a program is called that gives no name. */
const UNNAMED = 'A program';

@Controller()
export class DeviceController {
  constructor(
    private readonly device: DeviceService,
    private readonly limits: Limits,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Post('oauth/device/authorize')
  @AuthenticatesItself('grants nothing: a user has to approve')
  async authorize(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const form = DeviceAuthorizationForm.safeParse(request.body ?? {});
    if (!form.success) return refuse(reply, 'invalid_request', 'client_id or scope is too long.');
    await this.answer(reply, () =>
      this.device.authorize(nameOf(form.data.client_id), form.data.scope ?? '', request.ip),
    );
  }

  @Post('oauth/device/token')
  @AuthenticatesItself('by the device code')
  async token(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const form = DeviceTokenForm.safeParse(request.body ?? {});
    if (!form.success) return refuse(reply, 'invalid_request', 'device_code is missing or too long.');
    const { device_code: code, grant_type: grant = DEVICE_GRANT_TYPE } = form.data;
    if (grant !== DEVICE_GRANT_TYPE)
      return refuse(reply, 'unsupported_grant_type', `grant_type is ${DEVICE_GRANT_TYPE}.`);
    await this.answer(reply, () => this.device.token(code));
  }

  @Serves(operations.getDeviceRequest)
  async get(
    @User() user: SignedIn,
    @Param('userCode') code: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeviceRequest> {
    await this.limits.takeGuess(user.userId, reply);
    return this.device.request(code);
  }

  @Serves(operations.approveDevice)
  async approve(
    @User() user: SignedIn,
    @Param('userCode') code: string,
    @Body() body: ApproveDevice,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.limits.takeGuess(user.userId, reply);
    await this.device.approve(user, code, body);
  }

  @Serves(operations.denyDevice)
  async deny(
    @User() user: SignedIn,
    @Param('userCode') code: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.limits.takeGuess(user.userId, reply);
    await this.device.deny(code);
  }

  private async answer(reply: FastifyReply, work: () => Promise<object>): Promise<void> {
    try {
      await reply
        .code(200)
        .header('cache-control', 'no-store')
        .send(await work());
    } catch (error) {
      if (!(error instanceof DeviceRefusal)) throw error;
      this.logger.info({ reason: error.code }, 'device authorization refused');
      await refuse(reply, error.code, error.message);
    }
  }
}

async function refuse(reply: FastifyReply, error: DeviceProblem['error'], description: string): Promise<void> {
  await reply
    .code(400)
    .header('cache-control', 'no-store')
    .send({ error, error_description: description } satisfies DeviceProblem);
}

/** A name that fits into a line: without control characters. */
function nameOf(given: string | undefined): string {
  const name = (given ?? '').replaceAll(/\p{C}+/gu, ' ').trim();
  return name === '' ? UNNAMED : name;
}
